//===- PlanRepeat.cpp - What repeats carry, slice and stack ---------------===//
//
// A stack is one buffer; the body computes each yielded value in its slot. A carried value is one
// buffer for all iterations, which the initial value may already occupy.
//
//===----------------------------------------------------------------------===//

#include "dialects/titan/Support/Views.h"
#include "dialects/titan/Transforms/Memory/Planner.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::memory;

void Planner::placeStacks(RepeatOp repeat, SmallVectorImpl<Attribute> &results) {
  int64_t begin = liveness.getStart(repeat);
  for (Value stack : repeat.getStackedResults()) {
    PlaceAttr place;
    if (auto wished = wishes.find(stack); wished != wishes.end())
      if (!wished->second.whenFree || getBusyUntil(wished->second.place) < begin)
        place = wished->second.place;
    if (!place)
      place = makeBuffer(stack, begin, begin);
    put(stack, place);
    Buffer &buffer = getBuffer(place);
    buffer.first = std::min(buffer.first, begin);
    results.push_back(place);
  }
  for (const RepeatVariant &body : repeat.getVariants())
    for (auto [value, stack, operand] : body.getStacks()) {
      unsigned number = stack.getResultNumber() - repeat.getNumCarried();
      wish(value, places.lookup(stack).getSlot(depth, repeat, repeat.getStackUsers(number)),
           /*whenFree=*/false);
    }
}

/// What is carried starts where it ends, unless others start with the same.
void Planner::wishInit(OpResult result, PlaceAttr place) {
  auto repeat = dyn_cast<RepeatOp>(result.getOwner());
  if (!repeat || result.getResultNumber() >= repeat.getNumCarried())
    return;
  Value init = repeat.getInits()[result.getResultNumber()];
  if (init.getDefiningOp() && init.hasOneUse() && getRoot(init) == init)
    wish(init, place, /*whenFree=*/true);
}

void Planner::placeCarried(RepeatOp repeat, SmallVectorImpl<Attribute> &results) {
  int64_t begin = liveness.getStart(repeat), end = liveness.getEnd(repeat);
  for (auto [i, init] : llvm::enumerate(repeat.getInits())) {
    PlaceAttr place;
    PlaceAttr initPlace = places.lookup(init);
    // Two that are carried may start from one value, but not in its place.
    auto isTaken = [&](PlaceAttr place) { return llvm::is_contained(results, place); };
    if (auto wished = wishes.find(repeat.getResult(i));
        wished != wishes.end() && !isTaken(wished->second.place)) {
      int64_t busy = getBusyUntil(wished->second.place);
      bool isInit = wished->second.place == initPlace && busy == begin;
      if (!wished->second.whenFree || busy < begin || isInit)
        place = wished->second.place;
    }
    if (!place && initPlace.getSpace() == MemorySpace::Transient && initPlace.getLevels().empty() &&
        getBusyUntil(initPlace) <= begin && !isTaken(initPlace) &&
        !blocksYield(cast<OpResult>(repeat.getResult(i)), initPlace))
      place = initPlace;
    if (!place)
      place = makeBuffer(repeat.getResult(i), begin, end);
    for (const RepeatVariant &body : repeat.getVariants())
      put(body.getCarriedArgs()[i], place);
    Buffer &buffer = getBuffer(place);
    buffer.first = std::min(buffer.first, begin);
    buffer.last = std::max(buffer.last, end);
    results.push_back(place);
    for (Value yielded : repeat.getYielded(i))
      wish(yielded, place, /*whenFree=*/true);
  }
}

LogicalResult Planner::planRepeat(RepeatOp repeat) {
  SmallVector<Attribute> stacks, carried, arguments;
  placeStacks(repeat, stacks);
  placeCarried(repeat, carried);
  for (const RepeatVariant &body : repeat.getVariants())
    if (failed(planVariant(body, carried, arguments)))
      return failure();
  repeat->setAttr(kArguments, ArrayAttr::get(context, arguments));
  for (auto [result, place] : llvm::zip(repeat.getCarriedResults(), carried))
    put(result, cast<PlaceAttr>(place));
  return success();
}

/// Appends the places of the body's arguments to `arguments`.
LogicalResult Planner::planVariant(RepeatVariant body, ArrayRef<Attribute> carried,
                                   SmallVectorImpl<Attribute> &arguments) {
  put(body.getIndex(), getInlinePlace());
  arguments.push_back(getInlinePlace());
  llvm::append_range(arguments, carried);
  RepeatOp repeat = body.getRepeat();
  for (auto [stack, slice, number] : body.getSlices()) {
    PlaceAttr place = places.lookup(stack).getSlot(depth, repeat, repeat.getSliceUsers(number));
    put(slice, place);
    arguments.push_back(place);
  }
  ++depth;
  if (failed(planBlock(body.getBlock())))
    return failure();
  --depth;
  return verifyYield(body);
}

/// The yield copies one value after the other: `result`, which it hands on, may not lie where
/// another one goes.
bool Planner::blocksYield(OpResult result, PlaceAttr place) {
  std::optional<RepeatVariant> body = findVariant(result.getOwner()->getBlock());
  if (!body)
    return false;
  OperandRange yielded = body->getYieldedCarried();
  if (llvm::none_of(yielded, [&](Value value) { return getRoot(value) == result; }))
    return false;
  for (auto [value, argument] : llvm::zip_equal(yielded, body->getCarriedArgs()))
    if (places.lookup(argument) == place && getRoot(value) != result)
      return true;
  return false;
}

LogicalResult Planner::verifyYield(RepeatVariant body) {
  OperandRange yielded = body.getYieldedCarried();
  for (unsigned i = 0; i < yielded.size(); ++i)
    for (unsigned j = 0; j < i; ++j)
      if (places.lookup(yielded[i]) == places.lookup(body.getCarriedArgs()[j]) &&
          getRoot(yielded[i]) != getRoot(yielded[j]))
        return body.getRepeat().emitError("carried values ")
               << j << " and " << i << " trade places";
  return success();
}
