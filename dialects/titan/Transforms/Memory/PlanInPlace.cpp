// Results that reuse the allocation of an operand.
//
// An operation may write its result over an operand at its last use if it reads no element after it
// has written to the same address. Elementwise operations satisfy this condition by definition. For
// fused regions it follows from the order of their loops.

#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Support/RowSchedule.h"
#include "dialects/titan/Support/Views.h"
#include "dialects/titan/Transforms/Memory/Planner.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::memory;

/// True if element i of a result depends only on element i of the operand that it overwrites.
static bool worksInPlace(Operation *op) {
  // A repeat that passes a started collective to its next iteration starts the next one before it
  // finishes reading the current result.
  if (auto wait = dyn_cast<dist::WaitOp>(op))
    return llvm::none_of(wait.getFlights(), llvm::IsaPred<BlockArgument>);
  return getAccumulator(op) || isInPlace(op);
}

/// Whether the result of `op` may overwrite `operand`. An operation that accumulates may overwrite
/// only its accumulator, because it writes its result while it reads the other operands.
static bool mayWriteOver(Operation *op, Value operand) {
  return !getAccumulator(op) || getAccumulator(op) == operand;
}

static bool hasSameLayout(NamedTensorType a, NamedTensorType b) {
  auto withoutPartial = [](NamedTensorType type) {
    return type.withSharding(type.getShardingOrReplicated().withoutPartial());
  };
  return withoutPartial(a) == withoutPartial(b);
}

/// Prefers `ref` for the operand that the operation of `result` can overwrite. Collectives
/// overwrite their own operand instead.
void Planner::preferInPlace(OpResult result, AllocRefAttr ref) {
  Operation *op = result.getOwner();
  if (op->getNumResults() != 1 || isa<dist::DistDialect>(op->getDialect()) || !worksInPlace(op))
    return;
  for (Value operand : op->getOperands())
    if (Operation *producer = operand.getDefiningOp();
        producer && mayWriteOver(op, operand) && producer->getBlock() == op->getBlock() &&
        !isa<dist::DistDialect>(producer->getDialect()) &&
        hasSameLayout(getTensorType(operand), getTensorType(result)) &&
        liveness.getLastUse(getRoot(operand)) == liveness.getStart(op))
      return prefer(operand, ref, /*onlyIfFree=*/true);
}

/// True if a fused region reads `operand` element by element, and no later loop than the one that
/// writes the result reads it.
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
  // Operands without a dimension within the row are read before the row is written.
  if (llvm::all_of(dims, [&](DimAttr dim) { return llvm::is_contained(rows, dim.getName()); }))
    return true;
  return llvm::all_of(operand.getUsers(), [&](Operation *user) {
    return user->getParentOp() != fused ||
           ((user->hasTrait<Elementwise>() || isa<ReduceOp>(user)) &&
            cast<NamedTensorType>(fusion::getIteratedTensor(user).getType()).getDims() == dims &&
            schedule.innerOf[user] <= it->second);
  });
}

/// The values that an operation reads, including those that its region captures.
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
  // True if all reads of an allocation by this operation permit that the result overwrites it.
  auto fits = [&](Value operand) {
    return hasSameLayout(cast<NamedTensorType>(operand.getType()),
                         cast<NamedTensorType>(result.getType())) &&
           mayWriteOver(op, operand) &&
           (!fused || mayOverwrite(fused, operand, result.getResultNumber()));
  };
  SmallVector<Value> read = getRead(op), candidates = read;
  // A coalesced collective may overwrite only the operand of the same index.
  if (isa<dist::DistDialect>(op->getDialect()))
    candidates = {op->getOperand(result.getResultNumber())};
  AllocRefAttr preferred = preferences.count(result) ? preferences[result].ref : nullptr;
  // A slot of a stack is reserved for the value that the stack stores.
  auto isFree = [&](AllocRefAttr ref) {
    return (ref.getLevels().empty() || ref == preferred) &&
           getLiveUntil(ref) <= liveness.getStart(op) && !blocksYield(result, ref) &&
           llvm::all_of(
               read, [&](Value operand) { return refs.lookup(operand) != ref || fits(operand); });
  };
  AllocRefAttr found;
  for (Value operand : candidates) {
    AllocRefAttr ref = refs.lookup(operand);
    // The preferred allocation is best. A persistent allocation is used only if it is preferred.
    bool isPreferred = ref == preferred, isTransient = ref.getSpace() == MemorySpace::Transient;
    if ((isPreferred || (isTransient && !found)) && isFree(ref)) {
      found = ref;
      if (isPreferred)
        break;
    }
  }
  return found;
}
