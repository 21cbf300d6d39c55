// Residuals of a repeat.

#include "dialects/titan/Transforms/Gradient/Residuals.h"
#include "dialects/titan/Support/ReadValues.h"
#include "dialects/titan/Transforms/Gradient/ValueCut.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace titan::ir;

/// Whether the operation only renames dimensions or repeats elements.
static bool isViewOrExpand(Operation *op) {
  return isa<ExpandOp>(op) || (op->hasTrait<View>() && !isa<ShardingConstraintOp>(op));
}

static bool isRematerialisable(Operation *op) {
  return op->hasAttr(attr::kRecompute) || op->hasTrait<Elementwise>() || op->hasTrait<View>() ||
         op->hasTrait<Rematerialisable>();
}

/// The result of the sharding constraint on `value`, or `value` itself.
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
    needed.insert(constrained);
    return constrained;
  });
}

/// The iteration index and scanned inputs cost nothing in the backward.
bool Residuals::isRescanned(Value value) const {
  auto arg = dyn_cast<BlockArgument>(value);
  return arg && (arg.getArgNumber() == 0 || arg.getArgNumber() > numIterArgs);
}

/// The values from which the backward body can recompute `value`; nothing if it cannot. A sharding
/// constraint cannot replace its own operand.
std::optional<SmallVector<Value>> Residuals::getSources(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op || !isRematerialisable(op))
    return std::nullopt;
  SmallVector<Value> sources;
  for (Value read : getReadValues(op))
    if (isFromForward(read) && !isRescanned(read))
      sources.push_back(isa<ShardingConstraintOp>(op) ? read : getConstrained(read));
  return sources;
}

/// Bytes of the complete value. Of equal values, the operand of a view and the result of a sharding
/// constraint are stacked: the former once for all views, the latter with a known sharding.
static int64_t getWeight(Value value) {
  constexpr int64_t kPreference = 64; // of a byte to the choice among equal values
  Operation *op = value.getDefiningOp();
  bool isLast = !(op && isViewOrExpand(op)) && getConstrained(value) == value;
  return getBytes(value) * kPreference + !isLast;
}

/// The values of least total size from which the backward body can compute all needed ones.
DenseSet<Value> Residuals::findSmallest() const {
  SmallVector<Value> sinks;
  llvm::copy_if(needed, std::back_inserter(sinks),
                [&](Value value) { return !isRescanned(value); });
  return findSmallestCut(sinks, [&](Value value) { return getSources(value); }, getWeight);
}

/// Stacks these values, in the order of their uses.
void Residuals::chooseStacked() {
  DenseSet<Value> smallest = findSmallest(), seen;
  SmallVector<Value> pending(needed.rbegin(), needed.rend());
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (smallest.contains(value))
      stacked.insert(value);
    else if (std::optional<SmallVector<Value>> sources = getSources(value))
      llvm::append_range(pending, llvm::reverse(*sources));
  }
}

Value Residuals::getInBackward(Value value, OpBuilder &builder) {
  if (!isFromForward(value))
    return value;
  for (Value same : {value, getConstrained(value)})
    if (Value known = available.lookup(same))
      return known;
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  for (Value read : getReadValues(op))
    mapping.map(read, getInBackward(read, builder));
  Operation *copy = builder.clone(*op, mapping);
  recomputed.push_back(copy);
  for (auto [result, copied] : llvm::zip_equal(op->getResults(), copy->getResults()))
    available[result] = copied;
  return available.lookup(value);
}

/// Moves recomputed operations before their first use, which shortens live ranges.
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

/// Renames dimension `name` of `type`; the origin remains, so that axis rules apply to the new
/// name.
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

/// A value that has the repeat's dimension is stacked under another name.
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
  chooseStacked();
  // All scanned inputs get an argument, since uses appear only when operations are cloned.
  // Unused arguments are removed later, for all variants at once.
  for (BlockArgument arg : forward.getScannedArgs())
    available[arg] = backward.addArgument(arg.getType(), arg.getLoc());
  // Not atBlockBegin: the block has no parent and therefore no context.
  OpBuilder builder(forward.getRepeat().getContext());
  builder.setInsertionPointToStart(&backward);
  addResidualArguments(builder);
  rewriteUses([&](Value value) { return getInBackward(value, builder); });
  sinkRecomputed();
}
