// Constraints (C1) to (C5) of the repeat.

#include "dialects/titan/IR/Titan.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

static bool matches(Type a, Type b) {
  return cast<NamedTensorType>(a).equalsUpToSharding(cast<NamedTensorType>(b));
}

static LogicalResult verifyUsers(RepeatOp op, std::optional<ArrayAttr> lists, size_t expected,
                                 StringRef what) {
  if (!lists)
    return success();
  if (lists->size() != expected)
    return op.emitOpError("(C5) expected the users of ")
           << expected << " " << what << ", got " << lists->size() << " lists";
  for (auto list : lists->getAsRange<DenseI64ArrayAttr>()) {
    int64_t last = -1;
    for (int64_t user : list.asArrayRef()) {
      if (user <= last || user >= op.getNumVariants())
        return op.emitOpError("(C5) the users of ")
               << what << " must be ascending variants below " << op.getNumVariants() << ", got ["
               << list.asArrayRef() << "]";
      last = user;
    }
  }
  return success();
}

static LogicalResult verifyTable(RepeatOp op) {
  if (op.getDim().getSize() <= 0)
    return op.emitOpError("(C4) repeats ") << op.getDim().getSize() << " times";
  unsigned count = op.getNumVariants();
  std::optional<ArrayRef<int64_t>> table = op.getTable();
  if (!table)
    return count == 1
               ? success()
               : op.emitOpError("(C4) has ") << count << " bodies and no table of iterations";
  if (static_cast<int64_t>(table->size()) != op.getDim().getSize())
    return op.emitOpError("(C4) the table has ")
           << table->size() << " entries for " << op.getDim().getSize() << " iterations";
  for (int64_t variant : *table)
    if (variant < 0 || variant >= count)
      return op.emitOpError("(C4) the table names variant ") << variant << " of " << count;
  for (unsigned variant = 0; variant < count; ++variant)
    if (!llvm::is_contained(*table, variant))
      return op.emitOpError("(C4) no iteration runs variant ") << variant;
  return success();
}

static LogicalResult verifyArguments(RepeatOp op, const RepeatVariant &body) {
  size_t scanned = llvm::count_if(op.getAllScannedUsers(), [&](const auto &users) {
    return llvm::is_contained(users, body.getNumber());
  });
  size_t expected = 1 + op.getNumIterArgs() + scanned;
  if (body.getBlock().getNumArguments() != expected)
    return op.emitOpError("(C1) expected ")
           << expected << " arguments of the body, got " << body.getBlock().getNumArguments();
  for (auto [init, arg] : llvm::zip_equal(op.getInits(), body.getIterArgs()))
    if (!matches(init.getType(), arg.getType()))
      return op.emitOpError("(C1) takes the iteration argument ")
             << init.getType() << " as " << arg.getType();
  for (auto [stack, arg, number] : body.getScannedInputs()) {
    auto type = cast<NamedTensorType>(stack.getType());
    DimAttr dim = op.getStackDim(op.getScannedUsers(number));
    if (type.getRank() == 0 || type.getDims().front() != dim ||
        !matches(RepeatOp::getSlotType(type), arg.getType()))
      return op.emitOpError("(C1) scans ") << type << " along " << dim << " as " << arg.getType();
  }
  return success();
}

static LogicalResult verifyYield(RepeatOp op, const RepeatVariant &body) {
  auto yield = dyn_cast<YieldOp>(body.getBlock().getTerminator());
  size_t stacks = llvm::count_if(op.getAllStackedUsers(), [&](const auto &users) {
    return llvm::is_contained(users, body.getNumber());
  });
  if (!yield || yield.getValues().size() != op.getNumIterArgs() + stacks)
    return op.emitOpError("(C3) expected a yield of ") << op.getNumIterArgs() + stacks << " values";
  for (auto [i, value] : llvm::enumerate(body.getYieldedIterArgs())) {
    if (!matches(value.getType(), op.getInits()[i].getType()))
      return op.emitOpError("(C2) yields ")
             << value.getType() << " for iteration argument " << op.getInits()[i].getType();
    if (!matches(value.getType(), op.getResult(i).getType()))
      return op.emitOpError("(C3) result ")
             << i << " is " << op.getResult(i).getType() << ", yielded as " << value.getType();
  }
  for (auto [value, stack, operand] : body.getStackedOutputs()) {
    unsigned number = stack.getResultNumber();
    DimAttr dim = op.getStackDim(op.getStackedUsers(number - op.getNumIterArgs()));
    auto type = cast<NamedTensorType>(value.getType());
    if (!matches(RepeatOp::getStackedType(dim, type), stack.getType()))
      return op.emitOpError("(C3) result ")
             << number << " is " << stack.getType() << ", yielded as " << type;
  }
  return success();
}

LogicalResult RepeatOp::verify() {
  if (getNumResults() < getNumIterArgs())
    return emitOpError("(C3) expected a result for each of ")
           << getNumIterArgs() << " iteration arguments";
  if (failed(verifyTable(*this)) ||
      failed(verifyUsers(*this, getScannedUsers(), getScannedInputs().size(), "scanned inputs")) ||
      failed(verifyUsers(*this, getStackedUsers(), getStackedOutputs().size(), "stacked outputs")))
    return failure();
  for (const RepeatVariant &body : getVariants())
    if (failed(verifyArguments(*this, body)) || failed(verifyYield(*this, body)))
      return failure();
  return success();
}
