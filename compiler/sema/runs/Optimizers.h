// Optimizers as a run chooses them: by name from the declarations that its file sees, each with the
// options that its body declares. The run's own is `optimizer = NAME { ... }`; a group of
// parameters may have another, or other options.
#ifndef TITAN_COMPILER_SEMA_OPTIMIZERS_H
#define TITAN_COMPILER_SEMA_OPTIMIZERS_H

#include "compiler/sema/elaboration/Elaborator.h"
#include "compiler/sema/program/Program.h"
#include "compiler/sema/runs/Run.h"

namespace titan::sema {

/// What the optimizer's body declares by `option`; paths are the bare names.
std::vector<OptionSpec> optionsOf(const Symbol &optimizer, const Library &library,
                                  DiagnosticEngine &diags);

/// The name of an optimizer that a setting's value is, if it is one.
std::optional<syntax::Path> optimizerName(const syntax::Expr &expr);
void reportNoOptimizerName(const syntax::Expr &expr, DiagnosticEngine &diags);

/// The optimizer called `path` in `unit`, else in the file of the run's model.
Symbol lookupOptimizer(const syntax::Path &path, const Unit &unit, const Run &run,
                       const Library &library);
/// The same; reports that there is none.
Symbol findOptimizer(const syntax::Path &path, const Unit &unit, const Run &run,
                     const Library &library, DiagnosticEngine &diags);

/// Makes it the optimizer of the parameters of no group. What was set of another is forgotten.
void useOptimizer(const Symbol &optimizer, Run &run, const Library &library,
                  DiagnosticEngine &diags);

/// What a group may set under this name: an option of its own, of its optimizer, or of the run's.
/// Where it has no optimizer itself, its parameters may have that of a group before it.
std::optional<OptionSpec> findGroupOption(const Run &run, const Group &group,
                                          const std::string &name);
/// The names of all that a group may set.
std::vector<std::string> groupOptionNames(const Run &run, const Group &group);

/// An optimizer with a value for each of its options.
struct Optimizer {
  Symbol symbol;
  std::map<std::string, Value> options;
};

/// What updates a parameter: the run's optimizer, or what the groups that match its name say.
Optimizer optimizerOf(const Run &run, const Parameter &parameter);

/// Reports what groups set and no optimizer of a matching parameter has.
void checkGroupOptions(const Run &run, const Model &model, DiagnosticEngine &diags);

/// The dimensions of a parameter that all its uses contract alike; nothing of any other.
std::optional<MatrixDims> matrixDims(const Model &model, uint32_t parameter);

/// The functions that update a model's parameters.
struct Updates {
  struct Function {
    Model model;              ///< as `elaborateOptimizer` makes it
    size_t argumentCount = 0; ///< of its inputs, those before the states
  };
  std::vector<Function> functions;
  /// For each parameter of the model the number of its function; none of what is not trained.
  std::vector<std::optional<size_t>> functionOf;
};

/// Elaborates the optimizer of every trained parameter, once for equal options and dimensions.
Updates elaborateOptimizers(const Run &run, const Model &model, const Library &library,
                            DiagnosticEngine &diags);

} // namespace titan::sema

#endif
