// Evaluates operators, conditionals, names and lists.
#pragma once

#include "compiler/sema/elaboration/ElaboratorComponent.h"

namespace titan::sema {

/// Each private function evaluates one kind of expression.
class Expressions : ElaboratorComponent {
public:
  explicit Expressions(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  Value eval(const syntax::Expr &expr, Expected expected = nullptr);
  /// The value of a condition; empty after a reported error.
  std::optional<bool> condition(const syntax::Expr &expr);

private:
  Value name(const syntax::NameExpr &expr);
  Value unary(const syntax::UnaryExpr &expr, Expected expected);
  Value binary(const syntax::BinaryExpr &expr, Expected expected);
  Value joinMasks(const syntax::BinaryExpr &expr, const Mask &mask);
  /// `and` and `or`.
  Value logic(const syntax::BinaryExpr &expr);
  Value conditional(const syntax::IfExpr &expr, Expected expected);
  Value match(const syntax::MatchExpr &expr, Expected expected);
  Value typed(const syntax::TypedExpr &expr);
  Value listed(const syntax::Expr &expr);
  std::optional<bool> expectCondition(const Value &value, Location at);
};

} // namespace titan::sema
