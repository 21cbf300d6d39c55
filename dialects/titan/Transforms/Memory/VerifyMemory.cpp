//===- VerifyMemory.cpp - The pass --titan-verify-memory ------------------===//
//
// Replays a program on its buffers, apart from the planner's reasoning: a table says which value
// each place holds, writing a result replaces it, and reading an operand whose place holds another
// value is an error. Bodies of repeats are replayed twice, one after the other, so that what an
// iteration leaves behind meets itself and every other one. Lifetimes are checked against the same
// walk; what the function gives must be alive at its end, when it is read. What a repeat hands over
// is checked slot by slot (VerifyStackOverlaps.cpp).
//
//===----------------------------------------------------------------------===//

#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/Support/Views.h"
#include "dialects/titan/Transforms/Memory/BlockStorage.h"
#include "dialects/titan/Transforms/Memory/Liveness.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "dialects/titan/Transforms/Memory/StackOverlaps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

/// What is stored by block is only touched slot by slot.
static LogicalResult checkSlots(func::FuncOp function) {
  SmallVector<AllocationAttr> persistent;
  if (auto all =
          function->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(memory::kPersistent))
    persistent = llvm::to_vector(all.getAsRange<AllocationAttr>());
  auto hasStridedSlots = [&](Value value) {
    AllocRefAttr ref = memory::getAllocRef(value);
    return ref && memory::hasStridedSlots(ref, persistent);
  };
  WalkResult result = function->walk([&](Operation *op) {
    for (OpOperand &use : op->getOpOperands())
      if (hasStridedSlots(use.get()) && !memory::readsSlots(use)) {
        op->emitError("reads the whole of operand ")
            << use.getOperandNumber() << ", which is stored by block";
        return WalkResult::interrupt();
      }
    if (llvm::any_of(op->getResults(), hasStridedSlots) && !memory::iteratesSlots(op)) {
      op->emitError("writes the whole of what is stored by block");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {

class Replay {
public:
  explicit Replay(func::FuncOp function)
      : function(function), liveness(function),
        allocations(function->getAttrOfType<ArrayAttr>(memory::kTransient)) {}

  LogicalResult run() {
    for (Value argument : function.getArguments())
      write(argument);
    return replayBlock(function.getBody().front());
  }

private:
  LogicalResult replayBlock(Block &block) {
    for (Operation &op : block) {
      if (failed(read(&op)))
        return failure();
      if (auto repeat = dyn_cast<RepeatOp>(op)) {
        if (failed(replayRepeat(repeat)))
          return failure();
      }
      for (Value result : op.getResults()) {
        if (ir::isView(&op))
          continue;
        if (failed(checkStart(&op, memory::getAllocRef(result))))
          return failure();
        write(result);
      }
      if (isa<func::ReturnOp>(op) && failed(checkResults(&op)))
        return failure();
    }
    return success();
  }

  /// `op` writes to `place`.
  LogicalResult checkStart(Operation *op, AllocRefAttr ref) {
    if (!ref || ref.getSpace() != MemorySpace::Transient)
      return success();
    auto allocation = cast<AllocationAttr>(allocations[ref.getIndex()]);
    if (int64_t event = liveness.getStart(op); event < allocation.getFirst())
      return op->emitError("writes to allocation ")
             << ref.getIndex() << " at event " << event << ", before its first, "
             << allocation.getFirst();
    return success();
  }

  LogicalResult checkResults(Operation *op) {
    auto refs = op->getAttrOfType<ArrayAttr>(memory::kArgumentAllocs);
    if (!refs)
      return success();
    for (auto [i, ref] : llvm::enumerate(refs.getAsRange<AllocRefAttr>())) {
      if (failed(checkStart(op, ref)))
        return failure();
      if (ref.getSpace() != MemorySpace::Transient)
        continue;
      auto allocation = cast<AllocationAttr>(allocations[ref.getIndex()]);
      if (allocation.getLast() < liveness.getEnd(op))
        return op->emitError("gives result ")
               << i << " in allocation " << ref.getIndex() << ", whose last event is "
               << allocation.getLast() << ", not " << liveness.getEnd(op);
    }
    return success();
  }

  /// What is in flight cannot be copied: each next one lands where it is carried.
  LogicalResult checkFlights(RepeatOp repeat) {
    for (auto [i, argument] : llvm::enumerate(repeat.getVariant(0).getIterArgs())) {
      auto isAwaited = [&](Operation *user) {
        auto wait = dyn_cast<dist::WaitOp>(user);
        return wait && llvm::is_contained(wait.getFlights(), argument);
      };
      if (llvm::none_of(argument.getUsers(), isAwaited))
        continue;
      SmallVector<Value> values = repeat.getYielded(i);
      values.push_back(repeat.getInits()[i]);
      for (Value value : values)
        if (memory::getAllocRef(value) != memory::getAllocRef(argument))
          return repeat.emitError("carries a value in flight from ")
                 << memory::getAllocRef(value) << " to " << memory::getAllocRef(argument);
    }
    return success();
  }

  LogicalResult replayRepeat(RepeatOp repeat) {
    if (failed(checkFlights(repeat)))
      return failure();
    findAliases(repeat);
    for (int round = 0; round < 2; ++round)
      for (Region &body : repeat.getBodies()) {
        for (Value argument : body.getArguments())
          write(argument);
        if (failed(replayBlock(body.front())))
          return failure();
      }
    return success();
  }

  /// Slices of views of one stack at one place are one value.
  void findAliases(RepeatOp repeat) {
    for (unsigned v = 0; v < repeat.getBodies().size(); ++v) {
      DenseMap<std::pair<Value, AllocRefAttr>, Value> firsts;
      for (const RepeatVariant::ScannedInput &slice : repeat.getVariant(v).getScannedInputs()) {
        std::pair key(ir::getRoot(slice.input), memory::getAllocRef(slice.slot));
        if (key.second)
          aliases[slice.slot] = firsts.try_emplace(key, slice.slot).first->second;
      }
    }
  }

  /// The value whose bytes these are.
  Value getSource(Value value) const {
    Value root = ir::getRoot(value);
    auto it = aliases.find(root);
    return it == aliases.end() ? root : it->second;
  }

  /// Values that operations of the op's regions read are read by the op, for fused ones.
  LogicalResult read(Operation *op) {
    LogicalResult result = success();
    if (auto repeat = dyn_cast<RepeatOp>(op)) {
      // What is carried is copied at the start; slices are read in every iteration.
      for (Value init : repeat.getInits())
        result = failed(check(op, init, liveness.getStart(op))) ? failure() : result;
      for (Value whole : repeat.getScannedInputs())
        result = failed(check(op, whole, liveness.getEnd(op))) ? failure() : result;
      return result;
    }
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!operand.getDefiningOp() || !operand.getDefiningOp()->getParentOfType<FusedOp>())
          result = failed(check(op, operand, liveness.getEnd(op))) ? failure() : result;
    });
    return result;
  }

  /// `op` reads `value`, for the last time at `event`.
  LogicalResult check(Operation *op, Value value, int64_t event) {
    AllocRefAttr ref = memory::getAllocRef(value);
    if (!ref)
      return op->emitError("reads a value without an allocation");
    if (ref.getSpace() == MemorySpace::Inline)
      return success();
    if (isEarlyStack(op, value))
      return success();
    Value held = content.lookup(ref);
    if (held != getSource(value))
      return op->emitError("reads a value whose allocation ") << ref << " holds another";
    if (ref.getSpace() != MemorySpace::Transient)
      return success();
    auto allocation = cast<AllocationAttr>(allocations[ref.getIndex()]);
    if (event > allocation.getLast() && op->getBlock() == value.getParentBlock())
      return op->emitError("reads from allocation ")
             << ref.getIndex() << " at event " << event << ", after its last, "
             << allocation.getLast();
    return success();
  }

  /// A repeat's own argument that is stacked is copied at the start of the body.
  static bool isEarlyStack(Operation *op, Value value) {
    return isa<YieldOp>(op) && isa<BlockArgument>(value) &&
           value.getParentBlock() == op->getBlock();
  }

  void write(Value value) {
    AllocRefAttr ref = memory::getAllocRef(value);
    if (!ref || ref.getSpace() == MemorySpace::Inline)
      return;
    // A slot belongs to its stack, whose value stays what it is.
    content[ref] = getSource(value);
  }

  func::FuncOp function;
  memory::Liveness liveness;
  ArrayAttr allocations;
  DenseMap<AllocRefAttr, Value> content;
  DenseMap<Value, Value> aliases; ///< of a slice, the first that is the same
};

/// Refuses plans in which a value lies in no buffer that there is, is overwritten before its last
/// use, or is read outside of its buffer's lifetime. Changes nothing.
struct VerifyMemoryPass : PassWrapper<VerifyMemoryPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyMemoryPass)

  StringRef getArgument() const final { return "titan-verify-memory"; }
  StringRef getDescription() const final { return "Check that no value is overwritten too early"; }

  void runOnOperation() final {
    if (failed(memory::verifyBuckets(getOperation())))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(attr::kProgram))
        if (failed(memory::verifyAllocRefs(function, /*isComplete=*/false)) ||
            failed(checkSlots(function)) || failed(Replay(function).run()) ||
            failed(memory::verifyStackOverlaps(function)))
          return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace

std::unique_ptr<Pass> memory::createVerifyMemoryPass() {
  return std::make_unique<VerifyMemoryPass>();
}
