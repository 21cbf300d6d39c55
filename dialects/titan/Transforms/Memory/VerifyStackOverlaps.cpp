// Verifies that stack overlaps keep live slots disjoint.
//
// For every allocation of a stack overlap, finds the slot that each iteration accesses. The slot
// follows from the allocation references of all values that the body reads and writes. Then checks,
// iteration by iteration, that the offset constraints separate the slots that are still to be read
// from the slots that have been written.

#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/Support/Views.h"
#include "dialects/titan/Transforms/Memory/Liveness.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "dialects/titan/Transforms/Memory/StackOverlaps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// The accesses of a repeat's bodies to one transient allocation.
class AllocationUse {
public:
  AllocationUse(RepeatOp repeat, int64_t allocation)
      : repeat(repeat), allocation(allocation), level(memory::getLevel(repeat)) {}

  /// The slot that each iteration accesses, in execution order.
  FailureOr<arena::Slots> findSlots(bool mayWrite) {
    for (Value init : repeat.getInits())
      if (isInAllocation(memory::getAllocRef(init)))
        return repeat.emitError("carries a value in allocation ")
               << allocation << ", which has a stack overlap";
    SmallVector<std::optional<AllocRefAttr>> accessed;
    for (RepeatVariant body : repeat.getVariants()) {
      ref = std::nullopt;
      if (failed(visitBody(body, mayWrite)))
        return failure();
      accessed.push_back(ref);
    }
    arena::Slots slots;
    IterationTable table = repeat.getIterations();
    for (int64_t iteration = 0; iteration < table.getNumIterations(); ++iteration) {
      const int64_t variant = table.getVariant(iteration);
      slots.emplace_back();
      if (accessed[variant]) {
        ArrayRef<int64_t> users = accessed[variant]->getLevelUsers(0);
        slots.back() = users.empty() ? iteration : table.getSlots(users)[iteration];
      }
    }
    if (repeat.getReverse())
      std::reverse(slots.begin(), slots.end());
    return slots;
  }

private:
  bool isInAllocation(AllocRefAttr at) const {
    return at && at.getSpace() == MemorySpace::Transient && at.getIndex() == allocation;
  }

  LogicalResult visitBody(RepeatVariant body, bool mayWrite) {
    for (auto [value, stack, operand] : body.getStackedOutputs()) {
      unsigned number = stack.getResultNumber() - repeat.getNumIterArgs();
      AllocRefAttr whole = memory::getAllocRef(stack);
      if (isInAllocation(whole) &&
          failed(access(body.getYield(),
                        whole.getSlot(level, repeat, repeat.getStackedUsers(number)), mayWrite)))
        return failure();
    }
    auto visitArguments = [&](Region &region, Operation *op) {
      return llvm::all_of(region.getArguments(), [&](Value argument) {
        return succeeded(access(op, memory::getAllocRef(argument)));
      });
    };
    if (!visitArguments(body.getRegion(), repeat))
      return failure();
    WalkResult result = body.getRegion().walk([&](Operation *op) {
      bool isValid = succeeded(visitOp(op, mayWrite));
      if (isa<RepeatOp>(op))
        for (Region &region : op->getRegions())
          isValid = isValid && visitArguments(region, op);
      return isValid ? WalkResult::advance() : WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult visitOp(Operation *op, bool mayWrite) {
    for (Value operand : op->getOperands())
      if (failed(access(op, memory::getAllocRef(operand))))
        return failure();
    for (Value result : op->getResults())
      if (failed(access(op, memory::getAllocRef(result), mayWrite || ir::isView(op))))
        return failure();
    if (auto scratch = op->getAttrOfType<ArrayAttr>(memory::kScratch))
      for (auto at : scratch.getAsRange<AllocRefAttr>())
        if (failed(access(op, at, mayWrite)))
          return failure();
    return success();
  }

  /// Notes that `op` reads or writes `at`. Fails with an error if the access is not allowed, or is
  /// not to the one slot of the iteration.
  LogicalResult access(Operation *op, AllocRefAttr at, bool isAllowed = true) {
    if (!isInAllocation(at))
      return success();
    if (!isAllowed)
      return op->emitError("writes to allocation ") << allocation << ", which the repeat consumes";
    if (at.getLevels().empty() || at.getLevels().front() != level)
      return op->emitError("uses more than a slot of allocation ")
             << allocation << ", which has a stack overlap";
    if (!memory::endsInBlock(op))
      return op->emitError("is in flight beyond the iteration, with allocation ")
             << allocation << ", which has a stack overlap";
    ArrayAttr users = at.getLevelUsers(0).empty()
                          ? ArrayAttr()
                          : ArrayAttr::get(at.getContext(), at.getUsers()[0]);
    AllocRefAttr slot = AllocRefAttr::get(at.getContext(), at.getSpace(), at.getIndex(),
                                          at.getLevels().take_front(), users);
    if (ref && *ref != slot)
      return op->emitError("uses another slot of allocation ")
             << allocation << " than the rest of the iteration";
    ref = slot;
    return success();
  }

  RepeatOp repeat;
  int64_t allocation, level;
  std::optional<AllocRefAttr> ref; ///< the slot that the body accesses
};

/// Verifies the stack overlaps of one function.
class Verifier {
public:
  explicit Verifier(func::FuncOp function)
      : liveness(function), allocations(function->getAttrOfType<ArrayAttr>(memory::kTransient)) {}

  LogicalResult verify(RepeatOp repeat, Attribute attribute) {
    FailureOr<arena::StackOverlap> overlap = memory::unpackStackOverlap(attribute);
    if (failed(overlap))
      return repeat.emitError("has an invalid stack overlap: ") << attribute;
    for (size_t consumed : overlap->consumed)
      for (size_t produced : overlap->produced)
        if (failed(verifyPair(repeat, *overlap, consumed, produced)))
          return failure();
    return success();
  }

private:
  LogicalResult verifyAllocation(RepeatOp repeat, size_t index, int64_t slots) {
    auto allocation =
        index < allocations.size() ? cast<AllocationAttr>(allocations[index]) : AllocationAttr();
    auto type = allocation ? dyn_cast<NamedTensorType>(allocation.getType()) : NamedTensorType();
    if (!type || allocation.getPad() || allocation.getPer() || !memory::hasEqualSlots(type) ||
        type.getDims().front().getSize() != slots)
      return repeat.emitError("has a stack overlap with allocation ")
             << index << ", which does not have " << slots << " equal slots";
    return success();
  }

  LogicalResult verifyPair(RepeatOp repeat, const arena::StackOverlap &overlap, size_t consumed,
                           size_t produced) {
    if (failed(verifyAllocation(repeat, consumed, overlap.consumedSlots)) ||
        failed(verifyAllocation(repeat, produced, overlap.producedSlots)))
      return failure();
    if (cast<AllocationAttr>(allocations[consumed]).getLast() > liveness.getEnd(repeat))
      return repeat.emitError("consumes allocation ")
             << consumed << ", which is still live afterwards";
    if (cast<AllocationAttr>(allocations[produced]).getFirst() < liveness.getStart(repeat))
      return repeat.emitError("produces allocation ") << produced << ", which is live before";
    FailureOr<arena::Slots> read = AllocationUse(repeat, consumed).findSlots(/*mayWrite=*/false),
                            written = AllocationUse(repeat, produced).findSlots(/*mayWrite=*/true);
    if (failed(read) || failed(written))
      return failure();
    bool isDisjoint = true;
    arena::walkStackOverlap(
        *read, *written, [&](int64_t first, int64_t last, int64_t least, int64_t most) {
          isDisjoint = isDisjoint && arena::implies(overlap.producedAbove, {last + 1, least}) &&
                       arena::implies(overlap.producedBelow, {most + 1, first});
        });
    if (!isDisjoint)
      return repeat.emitError("writes slots of allocation ")
             << produced << " over slots of allocation " << consumed << " that are not yet read";
    return success();
  }

  memory::Liveness liveness;
  ArrayAttr allocations;
};

} // namespace

LogicalResult memory::verifyStackOverlaps(func::FuncOp function) {
  Verifier verifier(function);
  WalkResult result = function.walk([&](RepeatOp repeat) {
    if (auto stackOverlaps = repeat->getAttrOfType<ArrayAttr>(kStackOverlaps))
      for (Attribute overlap : stackOverlaps)
        if (failed(verifier.verify(repeat, overlap)))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
