//===- PlanInPlace.cpp - Results that take the place of an operand --------===//
//
// An operation that reads an operand for the last time may write its result over it, if it reads no
// element after it has written one that lies there. Of elementwise operations that is so by
// definition; of fused regions it follows from the order of their loops.
//
//===----------------------------------------------------------------------===//

#include "dialects/titan/IR/TypeOf.h"
#include "dialects/titan/Support/RowSchedule.h"
#include "dialects/titan/Transforms/Memory/Planner.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::memory;

/// True where element i of a result depends on element i of that operand alone (and on operands
/// that are not written), so that the one may be written over the other.
static bool worksInPlace(Operation *op) {
  // Where a repeat carries what is in flight, the next one lands while this one is used.
  if (auto wait = dyn_cast<dist::WaitOp>(op))
    return llvm::none_of(wait.getFlights(), llvm::IsaPred<BlockArgument>);
  return getAccumulator(op) || op->hasTrait<Elementwise>() ||
         isa<RotaryOp, dist::AllReduceOp, dist::MakePartialOp>(op);
}

/// Sums are written while their terms are read.
static bool mayWriteOver(Operation *op, Value operand) {
  return !getAccumulator(op) || getAccumulator(op) == operand;
}

static bool hasSameLayout(NamedTensorType a, NamedTensorType b) {
  auto withoutPartial = [](NamedTensorType type) {
    return type.withSharding(type.getShardingOrReplicated().withoutPartial());
  };
  return withoutPartial(a) == withoutPartial(b);
}

/// What is computed in place of an operand ends up where it must if the operand lies there before.
/// What is exchanged takes its operand's place rather.
void Planner::preferInPlace(OpResult result, AllocRefAttr ref) {
  Operation *op = result.getOwner();
  if (op->getNumResults() != 1 || isa<dist::DistDialect>(op->getDialect()) || !worksInPlace(op))
    return;
  for (Value operand : op->getOperands())
    if (Operation *producer = operand.getDefiningOp();
        producer && mayWriteOver(op, operand) && producer->getBlock() == op->getBlock() &&
        !isa<dist::DistDialect>(producer->getDialect()) &&
        hasSameLayout(typeOf(operand), typeOf(result)) &&
        liveness.getLastUse(operand) == liveness.getStart(op))
      return prefer(operand, ref, /*onlyIfFree=*/true);
}

/// In a fused region: `operand` is read element by element, by no loop that comes after the one
/// that writes the result.
static bool mayOverwrite(FusedOp fused, Value operand, unsigned result) {
  Operation *writer = fused.getYield().getValues()[result].getDefiningOp();
  SmallVector<std::string> rows = fusion::getRows(fused);
  fusion::RowSchedule schedule = fusion::scheduleRows(fusion::getScheduledOps(fused), rows);
  auto it = writer ? schedule.innerOf.find(writer) : schedule.innerOf.end();
  if (it == schedule.innerOf.end() ||
      (isa<ReduceOp>(writer) && cast<NamedTensorType>(writer->getResult(0).getType()).getRank() >
                                    static_cast<int64_t>(rows.size())))
    return false;
  auto dims = cast<NamedTensorType>(operand.getType()).getDims();
  // What has no dimension below the row is read before anything is written.
  if (llvm::all_of(dims, [&](DimAttr dim) { return llvm::is_contained(rows, dim.getName()); }))
    return true;
  return llvm::all_of(operand.getUsers(), [&](Operation *user) {
    return user->getParentOp() != fused ||
           ((user->hasTrait<Elementwise>() || isa<ReduceOp>(user)) &&
            cast<NamedTensorType>(fusion::getIteratedTensor(user).getType()).getDims() == dims &&
            schedule.innerOf[user] <= it->second);
  });
}

/// What an operation reads, also inside of its region.
static SmallVector<Value> getRead(Operation *op) {
  SmallVector<Value> read(op->getOperands());
  if (auto fused = dyn_cast<FusedOp>(op))
    for (Operation &inner : fused.getBody().front())
      for (Value operand : inner.getOperands())
        if (operand.getParentBlock() != &fused.getBody().front())
          read.push_back(operand);
  return read;
}

AllocRefAttr Planner::findLastUseOperand(OpResult result) {
  Operation *op = result.getOwner();
  auto fused = dyn_cast<FusedOp>(op);
  if (!fused && !worksInPlace(op))
    return nullptr;
  // A place is free if whatever is read from it, by whatever name, may be overwritten.
  auto fits = [&](Value operand) {
    return hasSameLayout(cast<NamedTensorType>(operand.getType()),
                         cast<NamedTensorType>(result.getType())) &&
           mayWriteOver(op, operand) &&
           (!fused || mayOverwrite(fused, operand, result.getResultNumber()));
  };
  SmallVector<Value> read = getRead(op), candidates = read;
  // Of several values that are exchanged at once, each may only take the place of its own operand.
  if (isa<dist::DistDialect>(op->getDialect()))
    candidates = {op->getOperand(result.getResultNumber())};
  auto isFree = [&](AllocRefAttr ref) {
    return ref.getLevels().empty() && getLiveUntil(ref) <= liveness.getStart(op) &&
           !blocksYield(result, ref) && llvm::all_of(read, [&](Value operand) {
             return refs.lookup(operand) != ref || fits(operand);
           });
  };
  AllocRefAttr preferred = preferences.count(result) ? preferences[result].ref : nullptr;
  AllocRefAttr found;
  for (Value operand : candidates) {
    AllocRefAttr ref = refs.lookup(operand);
    // An operand that lies where the result is wanted is best; persistent ones only then.
    bool isPreferred = ref == preferred, isTransient = ref.getSpace() == MemorySpace::Transient;
    if ((isPreferred || (isTransient && !found)) && isFree(ref)) {
      found = ref;
      if (isPreferred)
        break;
    }
  }
  return found;
}
