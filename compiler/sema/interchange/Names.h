// The names in the expressions of a configuration: arguments of a model, or keys.
#pragma once

#include "compiler/syntax/Expr.h"

namespace titan::sema {

/// The simple names in an expression, except names of called functions, in source order and with
/// repetitions.
std::vector<syntax::Name> namesIn(const syntax::Expr &expr);

} // namespace titan::sema
