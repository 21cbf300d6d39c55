// How parameters start.
#ifndef TITAN_COMPILER_SEMA_ELABORATION_INITIALISERS_H
#define TITAN_COMPILER_SEMA_ELABORATION_INITIALISERS_H

#include "compiler/sema/elaboration/Part.h"

namespace titan::sema {

class Initialisers : Part {
public:
  explicit Initialisers(Elaboration &parts) : Part(parts) {}

  /// What a declaration says; nothing after a report, as below.
  std::optional<Initialiser> of(const syntax::ParamStmt &stmt);
  std::optional<Initialiser> constant(const syntax::Expr &expr);
  std::optional<Initialiser> drawn(const syntax::CallExpr &call);
};

} // namespace titan::sema

#endif
