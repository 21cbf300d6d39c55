#include "compiler/sema/elaboration/InputDropout.h"
#include "compiler/sema/elaboration/Elaboration.h"

namespace titan::sema {

/// Whether the elements of the result are those of the first operand, in another order, element
/// type or number.
static bool movesElements(OpKind kind) {
  switch (kind) {
  case OpKind::Cast:
  case OpKind::Rename:
  case OpKind::Slice:
  case OpKind::Split:
  case OpKind::Merge:
  case OpKind::Expand:
  case OpKind::Gather:
  case OpKind::ShardingConstraint:
    return true;
  default:
    return false;
  }
}

Value InputDropout::mark(const Value &update, double rate, Location at) {
  const Value marked =
      elaboration.recorder.append(Op(OpKind::Cast, {update.tensor}), getTensorType(update), at);
  if (!marked.isTensor())
    return marked;
  elaboration.recorder.known.droppingTerms[marked.tensor] = {{}, marked.tensor, rate, at};
  unused.push_back(at);
  return marked;
}

/// The same operation on another operand of the same dimensions.
std::optional<ValueId> InputDropout::replay(const Op &op, ValueId operand) {
  Op copy = op;
  copy.results.clear();
  copy.operands[0] = operand;
  const Value result =
      elaboration.recorder.append(std::move(copy), model.values[op.results[0]].type, op.loc);
  return result.isTensor() ? std::optional(result.tensor) : std::nullopt;
}

void InputDropout::follow(const Op &op) {
  auto &terms = elaboration.recorder.known.droppingTerms;
  const bool isSum = op.kind == OpKind::Elementwise && op.word == "add";
  if (terms.empty() || (!isSum && !movesElements(op.kind)))
    return;
  const ValueId result = op.results[0];
  if (isSum)
    return followSum(op);
  const auto found = terms.find(op.operands[0]);
  if (found == terms.end())
    return;
  Recorder::DroppingTerm term = found->second;
  if (!term.rest) {
    term.update = result;
  } else {
    const std::optional<ValueId> rest = replay(op, *term.rest), update = replay(op, term.update);
    if (!rest || !update)
      return;
    term.rest = rest;
    term.update = *update;
  }
  terms[result] = term;
}

void InputDropout::followSum(const Op &op) {
  auto &terms = elaboration.recorder.known.droppingTerms;
  const DimSet &dims = model.values[op.results[0]].type.dims;
  for (ValueId operand : op.operands)
    if (!model.values[operand].type.dims.sameDims(dims))
      return; // the terms would differ in what later operations do to them
  for (size_t side : {1, 0})
    if (auto term = terms.find(op.operands[side]); term != terms.end() && !term->second.rest) {
      Recorder::DroppingTerm sum = term->second;
      sum.rest = op.operands[1 - side];
      terms[op.results[0]] = sum;
      return;
    }
}

Value InputDropout::contract(const Value &lhs, const Value &rhs, const TensorType &type,
                             Location at) {
  const auto &terms = elaboration.recorder.known.droppingTerms;
  const bool isRight = terms.count(rhs.tensor);
  const auto found = terms.find(isRight ? rhs.tensor : lhs.tensor);
  if (found == terms.end())
    return elaboration.recorder.emit(Op(OpKind::Contract, {lhs.tensor, rhs.tensor}), type, at);
  const Recorder::DroppingTerm term = found->second;
  std::erase(unused, term.loc);
  auto withOther = [&](const Value &other, ValueId of) {
    const Value operand = Value::ofTensor(of);
    return isRight ? contract(other, operand, type, at) : contract(operand, other, type, at);
  };
  const Value &other = isRight ? lhs : rhs;
  const Value dropped = elaboration.tensors.dropout(other, term.rate, at);
  if (!dropped.isTensor())
    return dropped;
  Op product(OpKind::Contract, {dropped.tensor, term.update});
  if (!isRight)
    std::swap(product.operands[0], product.operands[1]);
  const Value update = elaboration.recorder.emit(std::move(product), type, at);
  if (!term.rest || !update.isTensor())
    return update;
  const Value whole = withOther(other, *term.rest);
  return whole.isTensor() ? elaboration.tensors.elementwise("add", whole, update, at, at, at)
                          : whole;
}

void InputDropout::checkUsed() {
  for (Location at : unused)
    report(Code::BadArgument, at,
           "`input_dropout` has no effect: no `@` reads a sum with this term")
        .help(
            "add its result to another value, as in `w + input_dropout(u, 0.1)`, which `@` reads; "
            "scale the value before");
}

} // namespace titan::sema
