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

static bool isRematerialisable(Operation *op) {
  return op->hasAttr(attr::kRecompute) || op->hasTrait<Elementwise>() || isViewOrExpand(op) ||
         isa<ShardingConstraintOp, StopGradientOp, SliceOp>(op);
}

/// What `op` reads, also inside of its regions.
static llvm::SetVector<Value> getRead(Operation *op) {
  llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), read);
  return read;
}

/// The constraint of `value`, or `value`.
static Value getConstrained(Value value) {
  for (Operation *user : value.getUsers())
    if (isa<ShardingConstraintOp>(user) && user->getBlock() == value.getParentBlock())
      return user->getResult(0);
  return value;
}

Residuals::Residuals(RepeatVariant forward, Block &backward)
    : forward(forward), numIterArgs(forward.getRepeat().getNumIterArgs()), body(forward.getBlock()),
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
    Value constrained = getConstrained(value);
    need(constrained);
    return constrained;
  });
}

/// Adds `value`; instead of a view or wider copy that cannot be recomputed, and of what shall be
/// computed again, what it is made of is kept.
void Residuals::need(Value value) {
  if (!needed.insert(value))
    return;
  Operation *op = value.getDefiningOp();
  if (op && op->hasAttr(attr::kRecompute)) {
    for (Value read : getRead(op))
      if (isFromForward(read) && !isRescanned(read))
        need(isa<ShardingConstraintOp>(op) ? read : getConstrained(read));
  } else if (op && (isViewOrExpand(op) || isWidening(op)) && !isAvailable(op->getOperand(0))) {
    need(getConstrained(op->getOperand(0)));
  }
}

/// The index and slices cost nothing in the backward.
bool Residuals::isRescanned(Value value) const {
  auto arg = dyn_cast<BlockArgument>(value);
  return arg && (arg.getArgNumber() == 0 || arg.getArgNumber() > numIterArgs);
}

/// True if the backward body can use `value` without anything being stacked for that alone.
bool Residuals::isAvailable(Value value) const {
  if (!isFromForward(value) || needed.contains(value))
    return true;
  return isa<BlockArgument>(value) ? isRescanned(value) : isRecomputed(value);
}

bool Residuals::isRecomputed(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op || !isRematerialisable(op))
    return false;
  // A sharding constraint cannot stand for its own operand.
  return llvm::all_of(getRead(op), [&](Value operand) {
    return isAvailable(operand) ||
           (!isa<ShardingConstraintOp>(op) && needed.contains(getConstrained(operand)));
  });
}

Value Residuals::getInBackward(Value value, OpBuilder &builder) {
  if (!isFromForward(value))
    return value;
  for (Value same : {value, getConstrained(value)})
    if (Value known = available.lookup(same))
      return known;
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  for (Value read : getRead(op))
    mapping.map(read, getInBackward(read, builder));
  Operation *copy = builder.clone(*op, mapping);
  recomputed.push_back(copy);
  for (auto [result, copied] : llvm::zip_equal(op->getResults(), copy->getResults()))
    available[result] = copied;
  return available.lookup(value);
}

/// Moves what is computed again to its first use: it should not occupy memory before.
void Residuals::sinkRecomputed() {
  for (Operation *op : llvm::reverse(recomputed)) {
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
    other = StringAttr::get(name.getContext(), other.getValue() + ".residual");
  for (DimAttr &dim : dims)
    if (dim.getName() == name)
      dim = DimAttr::get(dim.getContext(), other, dim.getSize(),
                         dim.getOrigin() ? dim.getOrigin() : name);
  return NamedTensorType::get(type.getElementType(), dims, type.getSharding());
}

/// A value that has the repeat's dimension already is stacked under another name.
void Residuals::addResidualArguments(OpBuilder &builder) {
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
    if (isRecomputed(value))
      continue;
    if (!isRescanned(value))
      stacked.insert(value);
  }
  // Slices are taken again where a use or a recomputed operation needs them; which do is known only
  // after rebuilding, of all variants.
  for (BlockArgument arg : forward.getScannedArgs())
    available[arg] = backward.addArgument(arg.getType(), arg.getLoc());
  // Not atBlockBegin: the block is in no operation yet, so it knows no context.
  OpBuilder builder(forward.getRepeat().getContext());
  builder.setInsertionPointToStart(&backward);
  addResidualArguments(builder);
  rewriteUses([&](Value value) { return getInBackward(value, builder); });
  sinkRecomputed();
}
