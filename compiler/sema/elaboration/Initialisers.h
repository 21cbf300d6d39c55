// Evaluates the initial values of parameters.
#pragma once

#include "compiler/sema/elaboration/ElaboratorComponent.h"

namespace titan::sema {

class Initialisers : ElaboratorComponent {
public:
  explicit Initialisers(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  /// The initialiser of a declaration. This function and the next ones return nothing after a
  /// report.
  std::optional<Initialiser> of(const syntax::ParamStmt &stmt);
  /// A number, after `=`.
  std::optional<Initialiser> constant(const syntax::Expr &expr);
  /// A distribution, after `~`.
  std::optional<Initialiser> drawn(const syntax::CallExpr &call);
};

} // namespace titan::sema
