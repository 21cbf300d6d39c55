// The optimizers of a run's parameters. A group of parameters may have another optimizer than the
// run's, or other options.
#pragma once

#include "compiler/sema/elaboration/Elaborator.h"
#include "compiler/sema/program/Program.h"
#include "compiler/sema/runs/ParameterMatrix.h"
#include "compiler/sema/runs/Run.h"

namespace titan::sema {

/// Removes settings of groups for options that neither the optimizer of the group nor that of the
/// run declares.
void dropForeignGroupOptions(Run &run);

/// The option `name` of a group: an option of groups, or of the optimizer of the group. A group
/// without an optimizer has the options of the run's optimizer and of other groups' optimizers.
std::optional<OptionSpec> findGroupOption(const Run &run, const Group &group,
                                          const std::string &name);
/// The names of all options of a group.
std::vector<std::string> groupOptionNames(const Run &run, const Group &group);

/// An optimizer with a value for each of its options.
struct Optimizer {
  Symbol symbol;
  std::map<std::string, Value> options;
};

/// The optimizer of a parameter: that of the run, changed by the groups that match the name.
Optimizer getOptimizer(const Run &run, const Parameter &parameter);

/// Reports options of groups that the optimizer of no matching parameter has.
void checkGroupOptions(const Run &run, const Model &model, DiagnosticEngine &diags);

/// The functions that update a model's parameters.
struct Updates {
  struct Function {
    Model model;              ///< as `elaborateOptimizer` makes it
    size_t argumentCount = 0; ///< the inputs before the states
  };
  std::vector<Function> functions; ///< `model.name` is the name of the optimizer
  /// For each parameter of the model the index of its function; empty if it is not trained.
  std::vector<std::optional<size_t>> functionOf;
  /// For each parameter that an optimizer of matrices updates, what it takes as these.
  std::vector<std::optional<MatrixRoles>> matricesOf;
};

/// Elaborates the optimizer of every trained parameter, once for equal options and dimensions.
Updates elaborateOptimizers(const Run &run, const Model &model, const Library &library,
                            DiagnosticEngine &diags);

} // namespace titan::sema
