// Binary operators on compile-time numbers, lists of numbers, and tensors.
#pragma once

#include "compiler/sema/elaboration/ElaboratorComponent.h"

#include <functional>

namespace titan::sema {

class Arithmetic : ElaboratorComponent {
public:
  explicit Arithmetic(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  Value arithmetic(const syntax::BinaryExpr &expr, const Value &lhs, const Value &rhs);
  Value power(const syntax::BinaryExpr &expr, const Value &lhs, const Value &rhs);
  Value compare(const syntax::BinaryExpr &expr, const Value &lhs, const Value &rhs);
  /// Elementwise `and` and `or`.
  Value combineBooleans(const syntax::BinaryExpr &expr, const Value &lhs, const Value &rhs);
  /// Elementwise `not`.
  Value logicalNot(const Value &value, Location at, Location valueLoc);
  /// Whether an operand of `and` or `or` holds booleans; reports otherwise.
  bool isBoolean(const syntax::BinaryExpr &expr, const Value &value, Location at);
  Value contraction(const syntax::BinaryExpr &expr, const Value &lhs, const Value &rhs,
                    Expected expected);

  using Combine = std::function<Value(const Value &, const Value &)>;
  /// The list of the results of `each` on the elements of two lists of numbers, or of a list and a
  /// number; nothing for other operands.
  std::optional<Value> zipped(const Value &lhs, const Value &rhs, Location at, const Combine &each);

private:
  Value remainder(const syntax::BinaryExpr &expr, const Value &lhs, const Value &rhs);
  Value ofNumbers(const syntax::BinaryExpr &expr, const Value &lhs, const Value &rhs);
  Value compareChoice(const syntax::BinaryExpr &expr, const Value &choice, const Value &word);
  bool expectBoolean(const Value &value, Location at, const char *word);
  /// The number; reports infinity and NaN.
  Value finite(double number, Location at);
};

/// The list of the results of `each` on the elements of a list.
Value mapped(const Value &list, const std::function<Value(const Value &)> &each);

} // namespace titan::sema
