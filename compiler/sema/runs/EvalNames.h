// The values of options that take names.
#pragma once

#include "compiler/sema/modules/Library.h"
#include "compiler/sema/program/Value.h"

#include <functional>

namespace titan::sema {

/// A name evaluates to itself, alone and in a list: `[Attention, FeedForward]`. `evaluate`
/// evaluates other expressions.
Value evalNames(const syntax::Expr &expr,
                const std::function<Value(const syntax::Expr &)> &evaluate);

} // namespace titan::sema
