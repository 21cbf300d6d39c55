//===- Residuals.cpp - What a repeat's backward needs of its forward ------===//

#include "dialects/titan/Transforms/Gradient/Residuals.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace titan::ir;

/// Dimension surgery that moves no element, or repeats it.
static bool isViewOrExpand(Operation *op) {
  return isa<RenameOp, SplitOp, MergeOp, ExpandOp, CheckIndexOp>(op);
}

/// The same numbers in more bytes.
static bool isWidening(Operation *op) {
  auto cast = dyn_cast<CastOp>(op);
  if (!cast)
    return false;
  Type from = cast.getInput().getType().getElementType(),
       to = cast.getResult().getType().getElementType();
  return isa<FloatType>(from) && isa<FloatType>(to) &&
         from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth();
}

static bool isComputedAgain(Operation *op) {
  return op->hasAttr(attr::kRecompute) || op->hasTrait<Elementwise>() || isViewOrExpand(op) ||
         isa<AnchorOp, StopGradientOp, SliceOp>(op);
}

/// What `op` reads, also inside of its regions.
static llvm::SetVector<Value> getRead(Operation *op) {
  llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), read);
  return read;
}

/// The anchor of `value`, or `value`.
static Value getAnchored(Value value) {
  for (Operation *user : value.getUsers())
    if (isa<AnchorOp>(user) && user->getBlock() == value.getParentBlock())
      return user->getResult(0);
  return value;
}

Residuals::Residuals(RepeatVariant forward, Block &backward)
    : forward(forward), numCarried(forward.getRepeat().getNumCarried()), body(forward.getBlock()),
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

/// Adds `value`; instead of a view or wider copy that cannot be rebuilt, and of what shall be
/// computed again, what it is made of is kept.
void Residuals::need(Value value) {
  if (!needed.insert(value))
    return;
  Operation *op = value.getDefiningOp();
  if (op && op->hasAttr(attr::kRecompute)) {
    for (Value read : getRead(op))
      if (isFromForward(read) && !isTakenAgain(read))
        need(isa<AnchorOp>(op) ? read : getAnchored(read));
  } else if (op && (isViewOrExpand(op) || isWidening(op)) && !isAtHand(op->getOperand(0))) {
    need(getAnchored(op->getOperand(0)));
  }
}

/// The index and slices cost nothing in the backward.
bool Residuals::isTakenAgain(Value value) const {
  auto arg = dyn_cast<BlockArgument>(value);
  return arg && (arg.getArgNumber() == 0 || arg.getArgNumber() > numCarried);
}

/// True if the backward body can use `value` without anything being stacked for that alone.
bool Residuals::isAtHand(Value value) const {
  if (!isFromForward(value) || needed.contains(value))
    return true;
  return isa<BlockArgument>(value) ? isTakenAgain(value) : isRebuilt(value);
}

bool Residuals::isRebuilt(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op || !isComputedAgain(op))
    return false;
  // An anchor cannot stand for its own operand.
  return llvm::all_of(getRead(op), [&](Value operand) {
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
  for (Value read : getRead(op))
    mapping.map(read, getInBackward(read, builder));
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

/// `type`, where the dimension `name` has another name, which maps take for the same.
static NamedTensorType renameDim(NamedTensorType type, StringAttr name) {
  SmallVector<DimAttr> dims(type.getDims());
  StringAttr other = name;
  while (type.hasDim(other))
    other = StringAttr::get(name.getContext(), other.getValue() + ".kept");
  for (DimAttr &dim : dims)
    if (dim.getName() == name)
      dim = DimAttr::get(dim.getContext(), other, dim.getSize(),
                         dim.getOrigin() ? dim.getOrigin() : name);
  return NamedTensorType::get(type.getElementType(), dims, type.getSharding());
}

/// A value that has the repeat's dimension already is stacked under another name.
void Residuals::addStackArguments(OpBuilder &builder) {
  StringAttr name =
      RepeatOp::getStackDim(forward.getRepeat().getDim(), forward.getCount()).getName();
  for (Value value : stacked) {
    auto type = cast<NamedTensorType>(value.getType());
    NamedTensorType renamed = renameDim(type, name);
    Value argument = backward.addArgument(renamed, value.getLoc());
    if (renamed != type) {
      argument = builder.create<RenameOp>(value.getLoc(), type, argument);
      OpBuilder there(builder.getContext());
      there.setInsertionPointAfterValue(value);
      available[value] = argument;
      value = there.create<RenameOp>(value.getLoc(), renamed, value);
    }
    available[value] = argument;
    yielded.push_back(value);
  }
}

void Residuals::materialize() {
  collectNeeded();
  for (Value value : needed) {
    if (isRebuilt(value))
      continue;
    if (!isTakenAgain(value))
      stacked.insert(value);
  }
  // Slices are taken again where a use or a rebuilt operation needs them; which do is known only
  // after rebuilding, of all variants.
  for (BlockArgument arg : forward.getSliceArgs())
    available[arg] = backward.addArgument(arg.getType(), arg.getLoc());
  // Not atBlockBegin: the block is in no operation yet, so it knows no context.
  OpBuilder builder(forward.getRepeat().getContext());
  builder.setInsertionPointToStart(&backward);
  addStackArguments(builder);
  rewriteUses([&](Value value) { return getInBackward(value, builder); });
  sinkRebuilt();
}
