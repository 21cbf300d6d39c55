//===- VerifyHandovers.cpp - Do stacks stay apart as promised? ------------===//
//
// For every buffer that a repeat hands over: which slot does each iteration touch, by the places of
// all that its body reads and writes? Then, iteration by iteration: do the distances that the plan
// keeps hold what is still to be read and what has been written apart?
//
//===----------------------------------------------------------------------===//

#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/Support/Views.h"
#include "dialects/titan/Transforms/Memory/Handovers.h"
#include "dialects/titan/Transforms/Memory/Liveness.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// What a repeat's bodies do with one of its function's buffers.
class BufferUse {
public:
  BufferUse(RepeatOp repeat, int64_t buffer)
      : repeat(repeat), buffer(buffer), level(memory::getLevel(repeat)) {}

  /// The slot that each iteration touches, in the order in which they run.
  FailureOr<arena::Slots> findSlots(bool mayWrite) {
    for (Value init : repeat.getInits())
      if (lies(memory::getPlace(init)))
        return repeat.emitError("carries what lies in buffer ")
               << buffer << ", which it hands over";
    SmallVector<std::optional<PlaceAttr>> touched;
    for (RepeatVariant body : repeat.getVariants()) {
      place = std::nullopt;
      if (failed(visitBody(body, mayWrite)))
        return failure();
      touched.push_back(place);
    }
    arena::Slots slots;
    IterationTable table = repeat.getIterations();
    for (int64_t iteration = 0; iteration < table.getNumIterations(); ++iteration) {
      const int64_t variant = table.getVariant(iteration);
      slots.emplace_back();
      if (touched[variant]) {
        ArrayRef<int64_t> users = touched[variant]->getLevelUsers(0);
        slots.back() = users.empty() ? iteration : table.getSlots(users)[iteration];
      }
    }
    if (repeat.getReverse())
      std::reverse(slots.begin(), slots.end());
    return slots;
  }

private:
  bool lies(PlaceAttr at) const {
    return at && at.getSpace() == MemorySpace::Transient && at.getBuffer() == buffer;
  }

  LogicalResult visitBody(RepeatVariant body, bool mayWrite) {
    for (auto [value, stack, operand] : body.getStacks()) {
      unsigned number = stack.getResultNumber() - repeat.getNumCarried();
      PlaceAttr whole = memory::getPlace(stack);
      if (lies(whole) &&
          failed(touch(body.getYield(), whole.getSlot(level, repeat, repeat.getStackUsers(number)),
                       mayWrite)))
        return failure();
    }
    auto visitArguments = [&](Region &region, Operation *op) {
      return llvm::all_of(region.getArguments(), [&](Value argument) {
        return succeeded(touch(op, memory::getPlace(argument)));
      });
    };
    if (!visitArguments(body.getRegion(), repeat))
      return failure();
    WalkResult result = body.getRegion().walk([&](Operation *op) {
      bool isKept = succeeded(visitOp(op, mayWrite));
      if (isa<RepeatOp>(op))
        for (Region &region : op->getRegions())
          isKept = isKept && visitArguments(region, op);
      return isKept ? WalkResult::advance() : WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult visitOp(Operation *op, bool mayWrite) {
    for (Value operand : op->getOperands())
      if (failed(touch(op, memory::getPlace(operand))))
        return failure();
    for (Value result : op->getResults())
      if (failed(touch(op, memory::getPlace(result), mayWrite || ir::isView(op))))
        return failure();
    if (auto scratch = op->getAttrOfType<ArrayAttr>(memory::kScratch))
      for (auto at : scratch.getAsRange<PlaceAttr>())
        if (failed(touch(op, at, mayWrite)))
          return failure();
    return success();
  }

  /// `op` reads or writes what is at `at`.
  LogicalResult touch(Operation *op, PlaceAttr at, bool isAllowed = true) {
    if (!lies(at))
      return success();
    if (!isAllowed)
      return op->emitError("writes to buffer ") << buffer << ", which the repeat empties";
    if (at.getLevels().empty() || at.getLevels().front() != level)
      return op->emitError("uses more than a slot of buffer ")
             << buffer << ", which the repeat hands over";
    if (!memory::endsInBlock(op))
      return op->emitError("is in flight beyond the iteration, with buffer ")
             << buffer << ", which the repeat hands over";
    ArrayAttr users = at.getLevelUsers(0).empty()
                          ? ArrayAttr()
                          : ArrayAttr::get(at.getContext(), at.getUsers()[0]);
    PlaceAttr slot = PlaceAttr::get(at.getContext(), at.getSpace(), at.getBuffer(),
                                    at.getLevels().take_front(), users);
    if (place && *place != slot)
      return op->emitError("uses another slot of buffer ")
             << buffer << " than the rest of the iteration";
    place = slot;
    return success();
  }

  RepeatOp repeat;
  int64_t buffer, level;
  std::optional<PlaceAttr> place; ///< what the body touches
};

class Verifier {
public:
  explicit Verifier(func::FuncOp function)
      : liveness(function), buffers(function->getAttrOfType<ArrayAttr>(memory::kBuffers)) {}

  LogicalResult verify(RepeatOp repeat, Attribute attribute) {
    FailureOr<arena::Handover> handover = memory::unpackHandover(attribute);
    if (failed(handover))
      return repeat.emitError("hands over nothing that is known: ") << attribute;
    for (size_t emptied : handover->emptied)
      for (size_t filled : handover->filled)
        if (failed(verifyPair(repeat, *handover, emptied, filled)))
          return failure();
    return success();
  }

private:
  LogicalResult verifyBuffer(RepeatOp repeat, size_t index, int64_t slots) {
    auto buffer = index < buffers.size() ? cast<BufferAttr>(buffers[index]) : BufferAttr();
    auto type = buffer ? dyn_cast<NamedTensorType>(buffer.getType()) : NamedTensorType();
    if (!type || buffer.getPad() || buffer.getPer() || !memory::hasEqualRows(type) ||
        type.getDims().front().getSize() != slots)
      return repeat.emitError("hands over buffer ")
             << index << ", which has not " << slots << " equal slots";
    return success();
  }

  LogicalResult verifyPair(RepeatOp repeat, const arena::Handover &handover, size_t emptied,
                           size_t filled) {
    if (failed(verifyBuffer(repeat, emptied, handover.emptiedSlots)) ||
        failed(verifyBuffer(repeat, filled, handover.filledSlots)))
      return failure();
    if (cast<BufferAttr>(buffers[emptied]).getLast() > liveness.getEnd(repeat))
      return repeat.emitError("empties buffer ") << emptied << ", which lives on";
    if (cast<BufferAttr>(buffers[filled]).getFirst() < liveness.getStart(repeat))
      return repeat.emitError("fills buffer ") << filled << ", which is alive before";
    FailureOr<arena::Slots> read = BufferUse(repeat, emptied).findSlots(/*mayWrite=*/false),
                            written = BufferUse(repeat, filled).findSlots(/*mayWrite=*/true);
    if (failed(read) || failed(written))
      return failure();
    bool isApart = true;
    arena::walkHandover(
        *read, *written, [&](int64_t first, int64_t last, int64_t least, int64_t most) {
          isApart = isApart && arena::covers(handover.filledAbove, {last + 1, least}) &&
                    arena::covers(handover.filledBelow, {most + 1, first});
        });
    if (!isApart)
      return repeat.emitError("writes slots of buffer ")
             << filled << " where slots of buffer " << emptied << " are still to be read";
    return success();
  }

  memory::Liveness liveness;
  ArrayAttr buffers;
};

} // namespace

LogicalResult memory::verifyHandovers(func::FuncOp function) {
  Verifier verifier(function);
  WalkResult result = function.walk([&](RepeatOp repeat) {
    if (auto handovers = repeat->getAttrOfType<ArrayAttr>(kHandovers))
      for (Attribute handover : handovers)
        if (failed(verifier.verify(repeat, handover)))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
