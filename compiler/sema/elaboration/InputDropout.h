// Dropout of what a term of a sum is multiplied with: of x in `x @ (w + input_dropout(u, 0.1))`,
// which is x @ w + dropout(x, 0.1) @ u. An adapter knows w and u, but not x.
#pragma once

#include "compiler/sema/elaboration/ElaboratorComponent.h"

#include <optional>
#include <vector>

namespace titan::sema {

class InputDropout : ElaboratorComponent {
public:
  explicit InputDropout(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  /// `input_dropout(update, rate)`: a value equal to `update`.
  Value mark(const Value &update, double rate, Location at);
  /// Notes the result of an operation on marked values that moves or converts their elements, or
  /// adds to them. Called before the operation is appended.
  void follow(const Op &op);
  /// The contraction of two values. A sum with a marked term is contracted term by term.
  Value contract(const Value &lhs, const Value &rhs, const TensorType &type, Location at);
  /// Reports marked values that no contraction reads.
  void checkUsed();

private:
  void followSum(const Op &op);
  std::optional<ValueId> replay(const Op &op, ValueId operand);

  std::vector<Location> unused; ///< calls of `input_dropout`
};

} // namespace titan::sema
