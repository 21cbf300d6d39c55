// Elaborates one specialised model into a checked program. An abstract interpreter of the syntax
// tree evaluates numbers and records tensor operations. Its components are in
// elaboration/Elaboration.h.
#pragma once

#include "compiler/sema/modules/Library.h"
#include "compiler/sema/program/DataDims.h"
#include "compiler/sema/program/Value.h"

namespace titan::sema {

/// An argument of a model, from a specialisation, a run's `with`, or `--set`.
struct Argument {
  Value value;
  Location loc;
  std::vector<DimId> dims = {}; ///< of a call: the dimensions of the caller that the value names
};

/// A model that another model calls.
struct CalledModel {
  std::string prefix; ///< of the names of its parameters: "teacher."
  Symbol model;
  std::map<std::string, Argument> arguments; ///< those of its declaration and of the call
};

/// An option of a schedule.
struct LaunchOption {
  Value value;                    ///< in the file
  std::vector<std::string> words; ///< its legal values; empty: the option is no word
  bool isFixed = false;           ///< a launch cannot change the value
  bool operator==(const LaunchOption &) const = default;
};
/// The options of a schedule by name.
using ScheduleRequest = std::map<std::string, LaunchOption>;

/// `adapter = LowRank(_)` of a run for one parameter: a function or block that returns what uses
/// of the parameter see instead of it. Parameters that a block declares are those of the model.
struct Adapter {
  std::shared_ptr<const Callable> callable;
  /// Of the parameter as a matrix: positions in its own dimensions. Empty if it is no matrix.
  std::vector<size_t> outputs, inputs;
  size_t rule = 0; ///< its index in the run
  Location loc;
};
/// By the names of the adapted parameters.
using Adapters = std::map<std::string, Adapter>;

/// The values that a run fixes for a model: arguments, dimensions of the data, and element types.
struct Specialisation {
  std::map<std::string, Argument> arguments;
  std::map<std::string, Argument> sizes; ///< of samples, positions, and dimensions of arrays
  DataDims dataDims;                     ///< which of them are samples and positions
  /// Whether the data are tokens. Then `documents` and `positions` are less than the length of a
  /// sample.
  bool readsTokens = true;
  DType params = DType::F32;
  DType compute = DType::F32;
  std::map<std::string, Value> options = {}; ///< of an optimizer
  ScheduleRequest launchOptions = {};        ///< of a schedule
  const Adapters *adapters = nullptr;        ///< of parameters; null: none
  /// An erroneous statement defines nothing; statements independent of it are still elaborated.
  /// Losses and buffers are skipped. For models that are valid at other sizes.
  bool tolerant = false;
  /// Receives the models that the model calls; null: they are not needed.
  std::vector<CalledModel> *calledModels = nullptr;
  size_t *work = nullptr; ///< evaluated expressions, over all elaborations that share the counter
};

/// The limit of evaluated expressions in one invocation of the compiler: a few seconds.
inline constexpr size_t maxWork = 10'000'000;

/// Elaborates `decl`, a model with a body, into `model`. Returns false after an error that is not
/// tolerated.
bool elaborate(const Symbol &decl, const Specialisation &spec, const Library &library,
               DiagnosticEngine &diags, Model &model);

/// A value that replaces a parameter, written outside of the model: an expression, or what an
/// adapter returns.
struct Replacement {
  uint32_t parameter;        ///< its index
  const syntax::Expr *value; ///< null: the adapter
  const Unit *unit;          ///< of the names of functions
  Location loc;
  /// The component of the model that the expression sees: its names of parameters lack this
  /// beginning, "teacher.". Empty: the complete model.
  std::string component = {};
  const Adapter *adapter = nullptr;
};

/// Elaborates replacements of parameters of `model` into `function`, as updates of these
/// parameters. Expressions can name parameters of the same repeats and parameters outside of
/// repeats, by their full names (`layers.wq`), and dimensions and arguments of the model. Returns
/// false after an error.
bool elaborateReplacements(const Model &model, const std::vector<Replacement> &replacements,
                           const Library &library, DiagnosticEngine &diags, Model &function);

/// The maximum number of arguments of an optimizer: parameter, gradient, learning rate, step.
inline constexpr size_t optimizerArguments = 4;

/// The dimensions of a matrix: contractions sum the inputs and keep the outputs.
struct MatrixDims {
  DimSet outputs, inputs;
  bool operator==(const MatrixDims &) const = default;
};

/// A use of a parameter that prevents it from being a matrix.
struct MatrixObstacle {
  Location loc;
  std::string text;
};

/// The parameter and the options for which an optimizer is elaborated.
struct OptimizerRequest {
  std::map<std::string, Value> options; ///< a value for every declared option
  /// In the element type of the update. Of a batch of matrices: one matrix.
  TensorType parameter;
  /// Empty if the parameter is no matrix or the optimizer takes no dimensions.
  std::optional<MatrixDims> matrix;
  std::vector<MatrixObstacle> obstacles; ///< why the parameter is no matrix
  Location loc;                          ///< of the parameter
  std::string name;                      ///< of the parameter
};

/// Elaborates an optimizer into `function`. The inputs are the declared arguments and the states,
/// the outputs the new parameter and the new states. `function.dims` contains the dimensions of the
/// parameter. Returns false after an error.
bool elaborateOptimizer(const Symbol &decl, const OptimizerRequest &request, const Library &library,
                        DiagnosticEngine &diags, Model &function);

/// The maximum number of arguments of a schedule: step, steps.
inline constexpr size_t scheduleArguments = 2;

/// Elaborates a schedule into `function`. The inputs are the declared arguments and the options,
/// the output is the factor of the learning rate; all values are numbers in f64. A word is the
/// index of its choice, a boolean is 0 or 1. Returns false after an error.
bool elaborateSchedule(const Symbol &decl, const ScheduleRequest &request, const Library &library,
                       DiagnosticEngine &diags, Model &function);

/// Evaluates a compile-time expression outside of any model: the value of a setting.
Value evalConstant(const syntax::Expr &expr, const Library &library, const Unit &unit,
                   DiagnosticEngine &diags);

/// The same in a scope in which `names` have these values.
Value evalConstant(const syntax::Expr &expr, const std::map<std::string, Value> &names,
                   const Library &library, const Unit &unit, DiagnosticEngine &diags);

/// Evaluates an initialiser outside of any model: a number or a distribution.
std::optional<Initialiser> evalInitialiser(const syntax::Expr &expr, const Library &library,
                                           const Unit &unit, DiagnosticEngine &diags);

} // namespace titan::sema
