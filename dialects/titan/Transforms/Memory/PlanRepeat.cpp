//===- PlanRepeat.cpp - What repeats carry, slice and stack ---------------===//
//
// A stack is one buffer; the body computes each yielded value in its slot. A carried value is one
// buffer for all iterations, which the initial value may already occupy.
//
//===----------------------------------------------------------------------===//

#include "dialects/titan/Transforms/Memory/Planner.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::memory;

void Planner::placeStacks(RepeatOp repeat, SmallVectorImpl<Attribute> &results) {
  int64_t begin = liveness.getStart(repeat);
  for (auto [stack, yielded] :
       llvm::zip(repeat.getStackedResults(),
                 repeat.getYield().getValues().drop_front(repeat.getNumCarried()))) {
    PlaceAttr place;
    if (auto wished = wishes.find(stack); wished != wishes.end())
      if (!wished->second.whenFree || getBusyUntil(wished->second.place) < begin)
        place = wished->second.place;
    if (!place)
      place = makeBuffer(stack, begin, begin);
    put(stack, place);
    results.push_back(place);
    wish(yielded, getSlot(place, depth), /*whenFree=*/false);
  }
}

void Planner::placeCarried(RepeatOp repeat, SmallVectorImpl<Attribute> &results) {
  int64_t begin = liveness.getStart(repeat), end = liveness.getEnd(repeat);
  for (auto [i, init] : llvm::enumerate(repeat.getInits())) {
    PlaceAttr place;
    PlaceAttr initPlace = places.lookup(init);
    if (auto wished = wishes.find(repeat.getResult(i)); wished != wishes.end())
      if (!wished->second.whenFree || getBusyUntil(wished->second.place) < begin)
        place = wished->second.place;
    if (!place && initPlace.getSpace() == MemorySpace::Transient && initPlace.getLevels().empty() &&
        getBusyUntil(initPlace) <= begin && !llvm::is_contained(results, initPlace))
      place = initPlace;
    if (!place)
      place = makeBuffer(repeat.getResult(i), begin, end);
    put(repeat.getCarriedArgs()[i], place);
    Buffer &buffer = getBuffer(place);
    buffer.first = std::min(buffer.first, begin);
    buffer.last = std::max(buffer.last, end);
    results.push_back(place);
    wish(repeat.getYield().getValues()[i], place, /*whenFree=*/true);
  }
}

LogicalResult Planner::planRepeat(RepeatOp repeat) {
  SmallVector<Attribute> stacks, carried;
  placeStacks(repeat, stacks);
  placeCarried(repeat, carried);
  SmallVector<Attribute> arguments{getInlinePlace()};
  put(repeat.getIndex(), getInlinePlace());
  llvm::append_range(arguments, carried);
  for (auto [slice, argument] : llvm::zip_equal(repeat.getSlices(), repeat.getSliceArgs())) {
    PlaceAttr place = getSlot(places.lookup(slice), depth);
    put(argument, place);
    arguments.push_back(place);
  }
  repeat->setAttr(kArguments, ArrayAttr::get(context, arguments));
  ++depth;
  if (failed(planBlock(repeat.getBody().front())))
    return failure();
  --depth;
  for (auto [result, place] : llvm::zip(repeat.getCarriedResults(), carried))
    put(result, cast<PlaceAttr>(place));
  return verifyYield(repeat);
}

/// The yield copies one value after the other, so none may lie where another must go first.
LogicalResult Planner::verifyYield(RepeatOp repeat) {
  OperandRange yielded = repeat.getYield().getValues();
  for (unsigned i = 0; i < repeat.getNumCarried(); ++i)
    for (unsigned j = 0; j < i; ++j)
      if (places.lookup(yielded[i]) == places.lookup(repeat.getCarriedArgs()[j]))
        return repeat.emitError("carried values ") << j << " and " << i << " trade places";
  return success();
}
