// Allocations of iteration arguments, scanned inputs and stacked outputs.
//
// A stacked output is one allocation; the body computes each yielded value in its slot. An
// iteration argument is one allocation for all iterations, possibly that of its initial value.

#include "dialects/titan/Support/Views.h"
#include "dialects/titan/Transforms/Memory/Planner.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::memory;

/// True if `stack` may replace a scanned stack in `ref` slot by slot: every iteration writes the
/// slot that it alone reads.
bool Planner::replacesSlots(RepeatOp repeat, OpResult stack, AllocRefAttr ref) {
  const int64_t begin = liveness.getStart(repeat);
  const SmallVector<int64_t> users =
      repeat.getStackedUsers(stack.getResultNumber() - repeat.getNumIterArgs());
  Value old;
  for (auto [i, input] : llvm::enumerate(repeat.getScannedInputs()))
    if (refs.lookup(input) == ref && repeat.getScannedUsers(i) == users)
      old = input;
  if (!old || llvm::count(repeat.getScannedInputs(), old) != 1 ||
      writesBeforeReading(repeat, stack, old))
    return false;
  auto isDone = [&](Value value) {
    return value == old || replaced.contains(refs.lookup(value)) ||
           liveness.getLastUse(value) < begin;
  };
  auto isInside = [&](Operation *user) { return repeat->isProperAncestor(user); };
  return liveness.getLastUse(old) == liveness.getEnd(repeat) &&
         llvm::none_of(old.getUsers(), isInside) && llvm::all_of(getAllocation(ref).values, isDone);
}

void Planner::assignStacks(RepeatOp repeat, SmallVectorImpl<Attribute> &results) {
  int64_t begin = liveness.getStart(repeat);
  for (OpResult stack : repeat.getStackedOutputs()) {
    AllocRefAttr ref;
    if (auto preferred = preferences.find(stack); preferred != preferences.end()) {
      AllocRefAttr wanted = preferred->second.ref;
      if (replacesSlots(repeat, stack, wanted))
        replaced.insert(wanted);
      if (!preferred->second.onlyIfFree || getLiveUntil(wanted) < begin ||
          replaced.contains(wanted))
        ref = wanted;
    }
    if (!ref)
      ref = makeAllocation(stack, begin, begin);
    assign(stack, ref);
    Allocation &allocation = getAllocation(ref);
    allocation.first = std::min(allocation.first, begin);
    results.push_back(ref);
  }
  for (const RepeatVariant &body : repeat.getVariants())
    for (auto [value, stack, operand] : body.getStackedOutputs()) {
      unsigned number = stack.getResultNumber() - repeat.getNumIterArgs();
      AllocRefAttr ref = refs.lookup(stack);
      prefer(value, ref.getSlot(depth, repeat, repeat.getStackedUsers(number)),
             /*onlyIfFree=*/replaced.contains(ref));
    }
}

/// The initial value of an iteration argument prefers the argument's allocation, unless the value
/// has other uses.
void Planner::preferInit(OpResult result, AllocRefAttr ref) {
  auto repeat = dyn_cast<RepeatOp>(result.getOwner());
  if (!repeat || result.getResultNumber() >= repeat.getNumIterArgs())
    return;
  Value init = repeat.getInits()[result.getResultNumber()];
  if (init.getDefiningOp() && init.hasOneUse() && getRoot(init) == init)
    prefer(init, ref, /*onlyIfFree=*/true);
}

void Planner::assignIterArgs(RepeatOp repeat, SmallVectorImpl<Attribute> &results) {
  int64_t begin = liveness.getStart(repeat), end = liveness.getEnd(repeat);
  for (auto [i, init] : llvm::enumerate(repeat.getInits())) {
    AllocRefAttr ref;
    AllocRefAttr initRef = refs.lookup(init);
    // Two iteration arguments with the same initial value need different allocations.
    auto isTaken = [&](AllocRefAttr ref) { return llvm::is_contained(results, ref); };
    if (auto preferred = preferences.find(repeat.getResult(i));
        preferred != preferences.end() && !isTaken(preferred->second.ref)) {
      int64_t liveUntil = getLiveUntil(preferred->second.ref);
      bool isInit = preferred->second.ref == initRef && liveUntil == begin;
      if (!preferred->second.onlyIfFree || liveUntil < begin || isInit)
        ref = preferred->second.ref;
    }
    if (!ref && initRef.getSpace() == MemorySpace::Transient && initRef.getLevels().empty() &&
        getLiveUntil(initRef) <= begin && !isTaken(initRef) &&
        !blocksYield(cast<OpResult>(repeat.getResult(i)), initRef))
      ref = initRef;
    if (!ref)
      ref = makeAllocation(repeat.getResult(i), begin, end);
    for (const RepeatVariant &body : repeat.getVariants())
      assign(body.getIterArgs()[i], ref);
    Allocation &allocation = getAllocation(ref);
    allocation.first = std::min(allocation.first, begin);
    allocation.last = std::max(allocation.last, end);
    results.push_back(ref);
    for (Value yielded : repeat.getYielded(i))
      prefer(yielded, ref, /*onlyIfFree=*/true);
  }
}

LogicalResult Planner::planRepeat(RepeatOp repeat) {
  SmallVector<Attribute> stacks, iterArgs, arguments;
  assignStacks(repeat, stacks);
  assignIterArgs(repeat, iterArgs);
  for (const RepeatVariant &body : repeat.getVariants())
    if (failed(planVariant(body, iterArgs, arguments)))
      return failure();
  repeat->setAttr(kArgumentAllocs, ArrayAttr::get(context, arguments));
  for (auto [result, ref] : llvm::zip(repeat.getIterResults(), iterArgs))
    assign(result, cast<AllocRefAttr>(ref));
  return success();
}

/// Plans one body. Appends the allocations of its arguments to `arguments`.
LogicalResult Planner::planVariant(RepeatVariant body, ArrayRef<Attribute> iterArgs,
                                   SmallVectorImpl<Attribute> &arguments) {
  assign(body.getIndex(), getInlineRef());
  arguments.push_back(getInlineRef());
  llvm::append_range(arguments, iterArgs);
  RepeatOp repeat = body.getRepeat();
  for (auto [input, slot, number] : body.getScannedInputs()) {
    AllocRefAttr ref = refs.lookup(input).getSlot(depth, repeat, repeat.getScannedUsers(number));
    assign(slot, ref);
    arguments.push_back(ref);
  }
  ++depth;
  if (failed(planBlock(body.getBlock())))
    return failure();
  --depth;
  return verifyYield(body);
}

/// Yield copies are sequential, so a yielded value must not share an allocation with a later
/// destination.
bool Planner::blocksYield(OpResult result, AllocRefAttr ref) {
  std::optional<RepeatVariant> body = findVariant(result.getOwner()->getBlock());
  if (!body)
    return false;
  OperandRange yielded = body->getYieldedIterArgs();
  if (llvm::none_of(yielded, [&](Value value) { return getRoot(value) == result; }))
    return false;
  for (auto [value, argument] : llvm::zip_equal(yielded, body->getIterArgs()))
    if (refs.lookup(argument) == ref && getRoot(value) != result)
      return true;
  return false;
}

LogicalResult Planner::verifyYield(RepeatVariant body) {
  OperandRange yielded = body.getYieldedIterArgs();
  for (unsigned i = 0; i < yielded.size(); ++i)
    for (unsigned j = 0; j < i; ++j)
      if (refs.lookup(yielded[i]) == refs.lookup(body.getIterArgs()[j]) &&
          getRoot(yielded[i]) != getRoot(yielded[j]))
        return body.getRepeat().emitError("iteration arguments ")
               << j << " and " << i << " exchange allocations";
  return success();
}
