// Integer arithmetic of the language. Header-only.
#pragma once

#include "compiler/syntax/Expr.h"

#include <optional>

namespace titan::sema {

/// `a op b` for `+ - * / %`. Nothing on overflow, for a divisor of 0, or if the quotient is not an
/// integer. A remainder has the sign of the divisor, so that `l % 2` is 0 or 1.
inline std::optional<int64_t> exactInteger(syntax::BinaryOp op, int64_t a, int64_t b) {
  using syntax::BinaryOp;
  int64_t result = 0;
  switch (op) {
  case BinaryOp::Add:
    return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  case BinaryOp::Sub:
    return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  case BinaryOp::Mul:
    return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  case BinaryOp::Div:
    if (b == 0 || (a == INT64_MIN && b == -1))
      return std::nullopt;
    return a % b ? std::nullopt : std::optional(a / b);
  default: // Mod
    if (b == 0)
      return std::nullopt;
    return b == -1 ? 0 : (a % b + b) % b;
  }
}

} // namespace titan::sema
