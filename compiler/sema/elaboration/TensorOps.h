// Operations on tensors with their typing rules, used by operators and built-in functions.
#pragma once

#include "compiler/sema/elaboration/ElaboratorComponent.h"

namespace titan::sema {

class TensorOps : ElaboratorComponent {
public:
  explicit TensorOps(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  /// Joins by name; reports an outer product. `word` is the function in the program, `expr` the
  /// operator in the source, if there is one.
  Value elementwise(const char *word, const Value &lhs, const Value &rhs, Location at,
                    Location lhsLoc, Location rhsLoc, const syntax::BinaryExpr *expr = nullptr);
  /// `word` is an elementwise function of floating-point tensors, or `neg`.
  /// In training, 0 with this probability and else x / (1 - rate); outside of training `x`.
  Value dropout(const Value &x, double rate, Location at);
  Value unary(const char *word, const Value &operand, Location at);
  /// A constant without dimensions, in the element type of `type`.
  Value constantLike(const Value &value, const TensorType &type, Location at);
  Value booleansAsIntegers(const Value &operand, Location at);
  /// `word` is sum, max or min.
  Value reduce(const char *word, const Value &reduced, const std::vector<DimId> &over, Location at);

  /// The value with checked declared dimensions, recorded as a sharding constraint.
  Value constrain(Value value, const DimSet &declared, Location declaredAt, Location valueLoc);
  /// The name of a value in maps: the prefix of the enclosing repeats and calls, and its own name.
  std::string nameForMaps(const std::string &name) const;

private:
  Value asOperand(const Value &value, const Value &other, Location at);
  Value refuseOuterProduct(const Join &join, const TensorType &lhs, const TensorType &rhs,
                           Location at, Location lhsLoc, Location rhsLoc,
                           const syntax::BinaryExpr *expr);
};

} // namespace titan::sema
