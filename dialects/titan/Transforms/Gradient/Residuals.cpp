//===- Residuals.cpp - What a repeat's backward needs of its forward ------===//

#include "dialects/titan/Transforms/Gradient/Residuals.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace titan::ir;

/// Dimension surgery that moves no element, or repeats it.
static bool isView(Operation *op) {
  return isa<RenameOp, SplitOp, MergeOp, ExpandOp>(op);
}

static bool isCheap(Operation *op) {
  return op->hasTrait<Elementwise>() || isView(op) || isa<AnchorOp, StopGradientOp, SliceOp>(op);
}

/// The anchor of `value`, or `value`.
static Value getAnchored(Value value) {
  for (Operation *user : value.getUsers())
    if (isa<AnchorOp>(user) && user->getBlock() == value.getParentBlock())
      return user->getResult(0);
  return value;
}

Residuals::Residuals(RepeatOp forward, Block &backward)
    : forward(forward), numCarried(forward.getNumCarried()), body(forward.getBody().front()),
      backward(backward) {
  available[forward.getIndex()] = backward.getArgument(0);
}

void Residuals::rewriteUses(function_ref<Value(Value)> replace) {
  backward.walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (isFromForward(operand.get()))
        operand.set(replace(operand.get()));
  });
}

void Residuals::collectNeeded() {
  rewriteUses([&](Value value) {
    Value anchored = getAnchored(value);
    need(anchored);
    return anchored;
  });
}

/// Adds `value`; instead of a view that cannot be rebuilt, its operand is what is kept.
void Residuals::need(Value value) {
  if (!needed.insert(value))
    return;
  Operation *op = value.getDefiningOp();
  if (op && isView(op) && !isAtHand(op->getOperand(0)))
    need(getAnchored(op->getOperand(0)));
}

/// True if the backward body can use `value` without anything being stacked for that alone.
bool Residuals::isAtHand(Value value) const {
  if (!isFromForward(value) || needed.contains(value))
    return true;
  if (auto arg = dyn_cast<BlockArgument>(value))
    return arg.getArgNumber() == 0 || arg.getArgNumber() > numCarried;
  return isRebuilt(value);
}

bool Residuals::isRebuilt(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op || !isCheap(op))
    return false;
  // An anchor cannot stand for its own operand.
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return isAtHand(operand) || (!isa<AnchorOp>(op) && needed.contains(getAnchored(operand)));
  });
}

Value Residuals::getInBackward(Value value, OpBuilder &builder) {
  if (!isFromForward(value))
    return value;
  for (Value same : {value, getAnchored(value)})
    if (Value known = available.lookup(same))
      return known;
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, getInBackward(operand, builder));
  Operation *copy = builder.clone(*op, mapping);
  rebuilt.push_back(copy);
  for (auto [result, copied] : llvm::zip_equal(op->getResults(), copy->getResults()))
    available[result] = copied;
  return available.lookup(value);
}

/// Moves what is computed again to its first use: it should not occupy memory before.
void Residuals::sinkRebuilt() {
  for (Operation *op : llvm::reverse(rebuilt)) {
    Operation *first = nullptr;
    for (Operation *user : op->getUsers()) {
      Operation *ancestor = backward.findAncestorOpInBlock(*user);
      if (!first || ancestor->isBeforeInBlock(first))
        first = ancestor;
    }
    if (first)
      op->moveBefore(first);
  }
}

LogicalResult Residuals::addStackArguments() {
  for (Value value : stacked) {
    auto type = cast<NamedTensorType>(value.getType());
    if (type.hasDim(forward.getDim().getName())) {
      InFlightDiagnostic error = forward.emitOpError("cannot keep a value for the gradient: ")
                                 << type << " already has the dimension "
                                 << forward.getDim().getName() << " of the repeat";
      error.attachNote(value.getLoc()) << "the value";
      return error;
    }
    available[value] = backward.addArgument(type, value.getLoc());
  }
  return success();
}

LogicalResult Residuals::materialize() {
  collectNeeded();
  for (Value value : needed) {
    if (isRebuilt(value))
      continue;
    auto arg = dyn_cast<BlockArgument>(value);
    if (!arg || (arg.getArgNumber() > 0 && arg.getArgNumber() <= numCarried))
      stacked.insert(value);
  }
  // Slices are taken again where a use or a rebuilt operation needs them; which do is known only
  // after rebuilding, so all get an argument first and the unused ones lose it.
  SmallVector<BlockArgument> slices;
  for (BlockArgument arg : forward.getSliceArgs())
    available[arg] = slices.emplace_back(backward.addArgument(arg.getType(), arg.getLoc()));
  if (failed(addStackArguments()))
    return failure();
  // Not atBlockBegin: the block is in no operation yet, so it knows no context.
  OpBuilder builder(forward.getContext());
  builder.setInsertionPointToStart(&backward);
  rewriteUses([&](Value value) { return getInBackward(value, builder); });
  sinkRebuilt();
  for (auto [arg, slice] : llvm::zip_equal(slices, forward.getSlices())) {
    if (!arg.use_empty())
      slicedOperands.push_back(slice);
  }
  for (BlockArgument arg : slices)
    if (arg.use_empty())
      backward.eraseArgument(arg.getArgNumber());
  return success();
}
