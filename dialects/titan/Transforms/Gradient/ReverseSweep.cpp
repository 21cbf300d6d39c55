// Reverse-mode differentiation of a block.

#include "dialects/titan/Transforms/Gradient/ReverseSweep.h"
#include "dialects/titan/Differentiation/ParameterOrigin.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/Support/TensorBuilder.h"

using namespace mlir;
using namespace titan::ir;

void ReverseSweep::accumulate(Value value, Value contribution) {
  if (!contribution || !activity.isActive(value))
    return;
  Value &cotangent = cotangents[value];
  TensorBuilder math(builder, getGradientLoc(contribution.getLoc(), value));
  contribution = math.cast(contribution, getCotangentType(value).getElementType());
  cotangent = cotangent ? math.add(cotangent, contribution) : contribution;
}

LogicalResult ReverseSweep::run(Block &block) {
  // Listed first, because the differentiation of a repeat replaces the repeat.
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (failed(visit(*op)))
      return failure();
  return success();
}

LogicalResult ReverseSweep::visit(Operation &op) {
  SmallVector<Value> results;
  for (Value result : op.getResults())
    results.push_back(lookup(result));
  // An operation with an active result has an active operand or capture.
  if (llvm::none_of(results, [](Value cotangent) { return static_cast<bool>(cotangent); }))
    return success();
  if (auto repeat = dyn_cast<RepeatOp>(op))
    return differentiateRepeat(repeat, results, *this);
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  if (!differentiable)
    return op.emitOpError("has no gradient, but a trained parameter reaches the loss through it");
  SmallVector<Value> operands(op.getNumOperands());
  if (failed(differentiable.buildVjp(builder, results, operands)))
    return failure();
  for (auto [operand, cotangent] : llvm::zip_equal(op.getOperands(), operands))
    accumulate(operand, cotangent);
  return success();
}

void ReverseSweep::replace(Value value, Value copy) {
  activity.replace(value, copy);
  // A forward value may be a cotangent: y is the cotangent of x in the loss x * y.
  for (auto &entry : cotangents)
    if (entry.second == value)
      entry.second = copy;
  Value cotangent = lookup(value);
  cotangents.erase(value);
  if (cotangent)
    cotangents[copy] = cotangent;
}

SmallVector<Value> ReverseSweep::getCaptured(Region &region) const {
  SmallVector<Value> captured;
  for (auto [value, cotangent] : cotangents)
    if (!region.isAncestor(value.getParentRegion()))
      captured.push_back(value);
  return captured;
}

void titan::ir::eraseDeadOps(Region &region) {
  for (Block &block : region)
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      for (Region &inner : op.getRegions())
        eraseDeadOps(inner);
      if (isOpTriviallyDead(&op))
        op.erase();
    }
}
