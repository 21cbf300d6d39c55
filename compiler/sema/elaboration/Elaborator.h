// Elaborates one specialised model into a checked program. An abstract interpreter of the syntax
// tree evaluates numbers and records tensor operations. Its components are in
// elaboration/Elaboration.h.
#ifndef TITAN_COMPILER_SEMA_ELABORATOR_H
#define TITAN_COMPILER_SEMA_ELABORATOR_H

#include "compiler/sema/modules/Library.h"
#include "compiler/sema/program/Value.h"

namespace titan::sema {

/// An argument of a model, from a specialisation, a run's `with`, or `--set`.
struct Argument {
  Value value;
  Location loc;
};

/// What a run fixes for a model: arguments, dimensions of the data, and element types.
struct Specialisation {
  std::map<std::string, Argument> arguments;
  std::map<std::string, Argument> dataDims; ///< batch, seq
  DType params = DType::F32;
  DType compute = DType::F32;
  /// An erroneous statement defines nothing; statements independent of it are still elaborated.
  /// Losses and buffers are skipped. For models that are valid at other sizes.
  bool tolerant = false;
  size_t *work = nullptr; ///< evaluated expressions, over all elaborations that share the counter
};

/// The limit of evaluated expressions in one invocation of the compiler: a few seconds.
inline constexpr size_t maxWork = 10'000'000;

/// Elaborates `decl`, a model with a body, into `model`. Returns false after an error that is not
/// tolerated.
bool elaborate(const Symbol &decl, const Specialisation &spec, const Library &library,
               DiagnosticEngine &diags, Model &model);

/// Evaluates a compile-time expression outside of any model: the value of a setting.
Value evalConstant(const syntax::Expr &expr, const Library &library, const Unit &unit,
                   DiagnosticEngine &diags);

/// Evaluates an initialiser outside of any model: a number or a distribution.
std::optional<Initialiser> evalInitialiser(const syntax::Expr &expr, const Library &library,
                                           const Unit &unit, DiagnosticEngine &diags);

} // namespace titan::sema

#endif
