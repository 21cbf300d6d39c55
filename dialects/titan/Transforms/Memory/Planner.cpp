// Assigns an allocation to every value of a function.

#include "dialects/titan/Transforms/Memory/Planner.h"
#include "dialects/titan/Support/PassReport.h"
#include "dialects/titan/Support/Views.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::memory;

Planner::Planner(func::FuncOp function, PersistentTable &persistent)
    : function(function), persistent(persistent), liveness(function),
      context(function.getContext()), current(&function.getBody()) {}

LogicalResult Planner::run() {
  if (failed(assignArguments()) || failed(preferResults()) ||
      failed(planBlock(function.getBody().front())) || failed(verifyReturn()))
    return failure();
  // Live ranges and padding of allocations are final only after the walk.
  function.walk([&](RepeatOp repeat) { planStackOverlaps(repeat); });
  writeAttributes();
  return success();
}

AllocRefAttr Planner::getInlineRef() {
  return AllocRefAttr::get(context, MemorySpace::Inline, 0);
}

AllocRefAttr Planner::getPersistentRef(int64_t index) {
  return AllocRefAttr::get(context, MemorySpace::Persistent, index);
}

Planner::Allocation &Planner::getAllocation(AllocRefAttr ref) {
  return ref.getSpace() == MemorySpace::Persistent ? persistentUse[ref.getIndex()]
                                                   : allocations[ref.getIndex()];
}

int64_t Planner::getLiveUntil(AllocRefAttr ref) {
  int64_t last = -1;
  // Reads in another variant's body do not matter: an iteration runs one variant.
  // Other slots of a stack that is replaced slot by slot do not matter either.
  auto isOtherSlot = [&](AllocRefAttr other) { return other != ref && replaced.contains(other); };
  for (Value value : getAllocation(ref).values)
    if (value.getParentRegion()->isAncestor(current) && !isOtherSlot(refs.lookup(value)))
      last = std::max(last, liveness.getLastUse(value));
  return last;
}

void Planner::assign(Value value, AllocRefAttr ref) {
  refs[value] = ref;
  if (ref.getSpace() == MemorySpace::Inline)
    return;
  Allocation &allocation = getAllocation(ref);
  allocation.values.push_back(value);
  allocation.first = std::min(allocation.first, liveness.getDefinition(value));
  allocation.last = std::max(allocation.last, liveness.getLastUse(value));
}

AllocRefAttr Planner::makeAllocation(std::string name, NamedTensorType type, int64_t first,
                                     int64_t last) {
  allocations.push_back({std::move(name), type, first, last, nullptr, {}});
  return AllocRefAttr::get(context, MemorySpace::Transient, allocations.size() - 1);
}

AllocRefAttr Planner::makeAllocation(Value value, int64_t first, int64_t last) {
  return makeAllocation(getSourceName(value), cast<NamedTensorType>(value.getType()), first, last);
}

/// The started collective result that `value` waits for. Null for other values and for all-gathers,
/// which need an allocation that can be padded.
static Value getFlight(Value value) {
  auto wait = value.getDefiningOp<dist::WaitOp>();
  if (!wait)
    return nullptr;
  Value flight = wait.getFlights()[cast<OpResult>(value).getResultNumber()];
  return flight.getDefiningOp() && !flight.getDefiningOp<dist::AllGatherOp>() ? flight : nullptr;
}

void Planner::prefer(Value value, AllocRefAttr ref, bool onlyIfFree) {
  value = getRoot(value);
  if (hasStridedSlots(ref, persistent.getAllocations()) && !iteratesSlots(value.getDefiningOp()))
    return;
  if (isa<OpResult>(value) && !isInline(value))
    if (preferences.try_emplace(value, Preference{ref, onlyIfFree}).second) {
      preferInPlace(cast<OpResult>(value), ref);
      preferInit(cast<OpResult>(value), ref);
    }
  if (Value flight = getFlight(value))
    prefer(flight, ref, onlyIfFree);
}

LogicalResult Planner::planBlock(Block &block) {
  llvm::SaveAndRestore inside(current, block.getParent());
  for (Operation &op : block.without_terminator()) {
    if (auto repeat = dyn_cast<RepeatOp>(op)) {
      if (failed(planRepeat(repeat)))
        return failure();
    } else {
      planOp(&op);
    }
  }
  return success();
}

void Planner::planOp(Operation *op) {
  for (OpResult result : op->getResults())
    assign(result, chooseAllocation(result));
  planScratch(op);
}

AllocRefAttr Planner::chooseAllocation(OpResult result) {
  Operation *op = result.getOwner();
  if (isInline(result) || isa<dist::LayerOp>(op))
    return getInlineRef();
  if (isView(op))
    return refs.lookup(op->getOperand(0));
  AllocRefAttr lastUse = findLastUseOperand(result);
  int64_t now = liveness.getStart(op);
  if (auto preferred = preferences.find(result); preferred != preferences.end()) {
    AllocRefAttr ref = preferred->second.ref;
    if (!preferred->second.onlyIfFree || getLiveUntil(ref) < now || ref == lastUse)
      return ref;
  }
  if (!lastUse || lastUse.getSpace() != MemorySpace::Transient)
    return makeAllocation(result, now, now);
  ++numShared;
  TITAN_DEBUG("titan-plan-memory", llvm::errs() << op->getName() << " at event " << now
                                                << " works in place in " << lastUse << '\n');
  return lastUse;
}

void Planner::writeAttributes() {
  function.walk([&](Operation *op) {
    if (op->getParentOfType<FusedOp>() || op == function)
      return;
    SmallVector<Attribute> results;
    for (Value result : op->getResults())
      results.push_back(refs.lookup(result));
    if (!results.empty())
      op->setAttr(kResultAllocs, ArrayAttr::get(context, results));
  });
  SmallVector<Attribute> described;
  for (const Allocation &allocation : allocations)
    described.push_back(AllocationAttr::get(context, StringAttr::get(context, allocation.name),
                                            allocation.type, allocation.first, allocation.last,
                                            allocation.pad, allocation.per, nullptr, nullptr));
  function->setAttr(kTransient, ArrayAttr::get(context, described));
  function->setAttr(kEvents, Builder(context).getI64IntegerAttr(liveness.getNumEvents()));
}
