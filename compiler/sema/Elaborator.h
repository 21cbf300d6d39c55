// Turns one model, with all its arguments given, into a checked program: an abstract interpreter of
// the syntax tree in which numbers are computed and tensors are recorded. Its parts lie in
// elaboration/, which Elaboration.h puts together.
#ifndef TITAN_COMPILER_SEMA_ELABORATOR_H
#define TITAN_COMPILER_SEMA_ELABORATOR_H

#include "compiler/sema/Library.h"
#include "compiler/sema/Value.h"

namespace titan::sema {

/// A model's argument, from a specialisation, a run's `with`, or `--set`.
struct Argument {
  Value value;
  Location loc;
};

/// What a run says about a model: the dimensions that its data have, and the element types.
struct Specialisation {
  std::map<std::string, Argument> arguments;
  std::map<std::string, Argument> dataDims; ///< batch, seq
  DType params = DType::F32;
  DType compute = DType::F32;
  /// Of an optimizer: the values of its options.
  std::map<std::string, Value> options = {};
  /// A statement that is wrong here gives nothing, and what does not need it is elaborated all the
  /// same; losses and buffers are left out. For a model that is right at other sizes.
  bool tolerant = false;
  size_t *work = nullptr; ///< expressions evaluated so far, by all that share the count
};

/// Expressions that one invocation of the compiler evaluates: some seconds' worth.
inline constexpr size_t maxWork = 10'000'000;

/// Makes `model` of `decl`, a model with a body. False after an error that is not tolerated.
bool elaborate(const Symbol &decl, const Specialisation &spec, const Library &library,
               DiagnosticEngine &diags, Model &model);

/// An optimizer takes at most so many arguments: parameter, gradient, learning rate, step.
inline constexpr size_t optimizerArguments = 4;

/// The dimensions of a parameter that contractions use as a matrix.
struct MatrixDims {
  DimSet outputs, inputs;
  bool operator==(const MatrixDims &) const = default;
};

/// What an optimizer is elaborated for.
struct OptimizerRequest {
  std::map<std::string, Value> options; ///< a value for each
  TensorType parameter;                 ///< in the element type that the update is computed in
  /// The two groups of dimensions of a parameter that is a matrix: what a contraction with it
  /// gives, and what that sums.
  std::optional<MatrixDims> matrix;
  Location loc;     ///< of the parameter
  std::string name; ///< of the parameter
};

/// Makes `function` of an optimizer. Its inputs are the declared arguments, then the states; its
/// outputs the new parameter and the new states. `function.dims` holds the parameter's dimensions.
/// False after an error.
bool elaborateOptimizer(const Symbol &decl, const OptimizerRequest &request, const Library &library,
                        DiagnosticEngine &diags, Model &function);

/// A compile-time expression outside of any model: the value of a setting.
Value evalConstant(const syntax::Expr &expr, const Library &library, const Unit &unit,
                   DiagnosticEngine &diags);

/// How a parameter starts, said outside of any model: a number, or a distribution.
std::optional<Initialiser> evalInitialiser(const syntax::Expr &expr, const Library &library,
                                           const Unit &unit, DiagnosticEngine &diags);

} // namespace titan::sema

#endif
