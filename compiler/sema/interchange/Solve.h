// Solves `expression = value` for one name. Configurations are declared as equations, which an
// import solves and an export evaluates.
#pragma once

#include "compiler/sema/program/Value.h"
#include "compiler/syntax/Expr.h"

#include <functional>
#include <map>
#include <optional>
#include <set>

namespace titan::sema {

/// Values of names.
using NamedValues = std::map<std::string, Value>;

/// Evaluates an expression whose names all have values; an Error value if the result is undefined.
using Evaluate = std::function<Value(const syntax::Expr &, const NamedValues &)>;

struct Solution {
  enum class Kind {
    Open,   ///< too many names have no value yet
    Holds,  ///< the expression has the value
    Fails,  ///< it has another, or no value of the name gives this one
    Solved, ///< `name` must be `value`
  };
  Kind kind = Kind::Open;
  std::string name = {};
  Value value = {};
};

/// Solves through sums, differences, products, quotients, signs, `not`, `==`, `!=` and `if`.
/// Integers are solved exactly: `kv_heads * group = 6` has no solution for `kv_heads` = 4. If the
/// value of `if narrow then rank else none` is `none`, the condition is false; for another value,
/// it is true. solve() evaluates each solution and compares the result with `value`. `unknown`: the
/// names without values in `known`.
Solution solve(const syntax::Expr &expr, const Value &value, const NamedValues &known,
               const std::set<std::string> &unknown, const Evaluate &evaluate);

/// The name that solve() could find next, with any values; nothing if there is none.
std::optional<std::string> solvedName(const syntax::Expr &expr,
                                      const std::set<std::string> &unknown);

} // namespace titan::sema
