//===- Planner.cpp - Gives the values of a function their buffers ---------===//

#include "dialects/titan/Transforms/Memory/Planner.h"
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
  if (failed(placeArguments()) || failed(wishResults()) ||
      failed(planBlock(function.getBody().front())) || failed(verifyReturn()))
    return failure();
  // Only now is it known how long each buffer lives, and which are padded.
  function.walk([&](RepeatOp repeat) { planHandovers(repeat); });
  writeAttributes();
  return success();
}

PlaceAttr Planner::getInlinePlace() {
  return PlaceAttr::get(context, MemorySpace::Inline, 0);
}

PlaceAttr Planner::getPersistentPlace(int64_t index) {
  return PlaceAttr::get(context, MemorySpace::Persistent, index);
}

Planner::Buffer &Planner::getBuffer(PlaceAttr place) {
  return place.getSpace() == MemorySpace::Persistent ? persistentUse[place.getBuffer()]
                                                     : buffers[place.getBuffer()];
}

int64_t Planner::getBusyUntil(PlaceAttr place) {
  int64_t last = -1;
  // What another variant's body reads is not there while this one runs.
  for (Value value : getBuffer(place).values)
    if (value.getParentRegion()->isAncestor(current))
      last = std::max(last, liveness.getLastUse(value));
  return last;
}

void Planner::put(Value value, PlaceAttr place) {
  places[value] = place;
  if (place.getSpace() == MemorySpace::Inline)
    return;
  Buffer &buffer = getBuffer(place);
  buffer.values.push_back(value);
  buffer.first = std::min(buffer.first, liveness.getDefinition(value));
  buffer.last = std::max(buffer.last, liveness.getLastUse(value));
}

PlaceAttr Planner::makeBuffer(std::string name, NamedTensorType type, int64_t first, int64_t last) {
  buffers.push_back({std::move(name), type, first, last, nullptr, {}});
  return PlaceAttr::get(context, MemorySpace::Transient, buffers.size() - 1);
}

PlaceAttr Planner::makeBuffer(Value value, int64_t first, int64_t last) {
  return makeBuffer(getSourceName(value), cast<NamedTensorType>(value.getType()), first, last);
}

/// The value in flight that `value` is waited for as; null for others, and where room for padding
/// may be needed, which only a buffer of its own has.
static Value getFlight(Value value) {
  auto wait = value.getDefiningOp<dist::WaitOp>();
  if (!wait)
    return nullptr;
  Value flight = wait.getFlights()[cast<OpResult>(value).getResultNumber()];
  return flight.getDefiningOp() && !flight.getDefiningOp<dist::AllGatherOp>() ? flight : nullptr;
}

void Planner::wish(Value value, PlaceAttr place, bool whenFree) {
  value = getRoot(value);
  if (isApart(place, persistent.getBuffers()) && !walksSlots(value.getDefiningOp()))
    return;
  if (isa<OpResult>(value) && !isInline(value))
    if (wishes.try_emplace(value, Wish{place, whenFree}).second) {
      wishInPlace(cast<OpResult>(value), place);
      wishInit(cast<OpResult>(value), place);
    }
  if (Value flight = getFlight(value))
    wish(flight, place, whenFree);
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
    put(result, choosePlace(result));
  planScratch(op);
}

PlaceAttr Planner::choosePlace(OpResult result) {
  Operation *op = result.getOwner();
  if (isInline(result) || isa<dist::LayerOp>(op))
    return getInlinePlace();
  if (isView(op))
    return places.lookup(op->getOperand(0));
  PlaceAttr dying = findDyingOperand(result);
  int64_t now = liveness.getStart(op);
  if (auto wished = wishes.find(result); wished != wishes.end()) {
    PlaceAttr place = wished->second.place;
    if (!wished->second.whenFree || getBusyUntil(place) < now || place == dying)
      return place;
  }
  return dying && dying.getSpace() == MemorySpace::Transient ? dying : makeBuffer(result, now, now);
}

void Planner::writeAttributes() {
  function.walk([&](Operation *op) {
    if (op->getParentOfType<FusedOp>() || op == function)
      return;
    SmallVector<Attribute> results;
    for (Value result : op->getResults())
      results.push_back(places.lookup(result));
    if (!results.empty())
      op->setAttr(kPlaces, ArrayAttr::get(context, results));
  });
  SmallVector<Attribute> described;
  for (const Buffer &buffer : buffers)
    described.push_back(BufferAttr::get(context, StringAttr::get(context, buffer.name), buffer.type,
                                        buffer.first, buffer.last, buffer.pad, buffer.per,
                                        nullptr));
  function->setAttr(kBuffers, ArrayAttr::get(context, described));
  function->setAttr(kEvents, Builder(context).getI64IntegerAttr(liveness.getNumEvents()));
}
