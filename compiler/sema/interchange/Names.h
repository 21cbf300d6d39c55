// The names in the expressions of a configuration: arguments of a model, or keys.
#ifndef TITAN_COMPILER_SEMA_INTERCHANGE_NAMES_H
#define TITAN_COMPILER_SEMA_INTERCHANGE_NAMES_H

#include "compiler/syntax/Expr.h"

namespace titan::sema {

/// The simple names in an expression, except names of called functions, in source order and with
/// repetitions.
std::vector<syntax::Name> namesIn(const syntax::Expr &expr);

} // namespace titan::sema

#endif
