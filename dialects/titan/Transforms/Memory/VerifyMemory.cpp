// The pass --titan-verify-memory: rejects plans that overwrite a value before its last use.
//
// Replays a program on its allocations, independently of the planner. A table maps each allocation
// to the value that it contains. Writing a result replaces the entry; reading an operand whose
// entry is another value is an error. Each body of a repeat is replayed twice, so that every
// iteration follows every other. Live ranges are checked during the same walk; results of the
// function must be live at its end. VerifyStackOverlaps.cpp checks stack overlaps slot by slot.

#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/Support/Views.h"
#include "dialects/titan/Transforms/Memory/BlockStorage.h"
#include "dialects/titan/Transforms/Memory/Liveness.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "dialects/titan/Transforms/Memory/Passes.h"
#include "dialects/titan/Transforms/Memory/StackOverlaps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace titan::memory {
#define GEN_PASS_DEF_TITANVERIFYMEMORY
#include "dialects/titan/Transforms/Memory/Passes.h.inc"
} // namespace titan::memory

using namespace mlir;
using namespace titan;
using namespace titan::ir;

/// Requires that operations access tensors that are stored block by block only slot by slot.
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

/// The replay of one function.
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

  /// Checks that the allocation is live when `op` writes to it.
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

  /// A started collective cannot be copied: its result must stay in the allocation of the iteration
  /// argument.
  LogicalResult checkFlights(RepeatOp repeat) {
    for (unsigned i = 0; i < repeat.getNumIterArgs(); ++i) {
      auto isAwaited = [i](const RepeatVariant &body) {
        Value argument = body.getIterArgs()[i];
        return llvm::any_of(argument.getUsers(), [&](Operation *user) {
          auto wait = dyn_cast<dist::WaitOp>(user);
          return wait && llvm::is_contained(wait.getFlights(), argument);
        });
      };
      if (llvm::none_of(repeat.getVariants(), isAwaited))
        continue;
      Value argument = repeat.getVariant(0).getIterArgs()[i];
      SmallVector<Value> values = repeat.getYielded(i);
      values.push_back(repeat.getInits()[i]);
      for (Value value : values)
        if (memory::getAllocRef(value) != memory::getAllocRef(argument))
          return repeat.emitError("carries a value in flight from ")
                 << memory::getAllocRef(value) << " to " << memory::getAllocRef(argument);
    }
    return success();
  }

  /// A stack may be in the allocation of a scanned input if each iteration writes the slot that it
  /// reads, and nothing else in the repeat reads the input.
  static LogicalResult checkReplaced(RepeatOp repeat) {
    for (auto [i, output] : llvm::enumerate(repeat.getStackedOutputs()))
      for (auto [j, input] : llvm::enumerate(repeat.getScannedInputs())) {
        if (memory::getAllocRef(output) != memory::getAllocRef(input))
          continue;
        auto isInside = [&](Operation *user) { return repeat->isProperAncestor(user); };
        if (repeat.getStackedUsers(i) != repeat.getScannedUsers(j) ||
            llvm::any_of(input.getUsers(), isInside))
          return repeat.emitError("overwrites slots of scanned input ")
                 << j << " that other iterations read";
        if (memory::writesBeforeReading(repeat, cast<OpResult>(output), input))
          return repeat.emitError("copies an argument over the slot of scanned input ")
                 << j << " before the body reads it";
      }
    return success();
  }

  LogicalResult replayRepeat(RepeatOp repeat) {
    if (failed(checkFlights(repeat)) || failed(checkReplaced(repeat)))
      return failure();
    findAliases(repeat);
    for (int pass = 0; pass < 2; ++pass) // every body after every other
      for (Region &body : repeat.getBodies()) {
        for (Value argument : body.getArguments())
          write(argument);
        if (failed(replayBlock(body.front())))
          return failure();
      }
    return success();
  }

  /// Scanned inputs that are views of the same stack, in the same slot, are one value.
  void findAliases(RepeatOp repeat) {
    for (unsigned v = 0; v < repeat.getBodies().size(); ++v) {
      DenseMap<std::pair<Value, AllocRefAttr>, Value> firsts;
      for (const RepeatVariant::ScannedInput &scanned : repeat.getVariant(v).getScannedInputs()) {
        std::pair key(ir::getRoot(scanned.input), memory::getAllocRef(scanned.slot));
        if (key.second)
          aliases[scanned.slot] = firsts.try_emplace(key, scanned.slot).first->second;
      }
    }
  }

  /// The representative of all values with these bytes.
  Value getSource(Value value) const {
    Value root = ir::getRoot(value);
    auto it = aliases.find(root);
    return it == aliases.end() ? root : it->second;
  }

  /// Checks the operands of `op`. The captures of a fused region count as operands.
  LogicalResult read(Operation *op) {
    LogicalResult result = success();
    if (auto repeat = dyn_cast<RepeatOp>(op)) {
      // The repeat copies initial values at its start; every iteration reads scanned inputs.
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

  /// Checks that `value` is in its allocation, and that the allocation is live, when `op` reads it
  /// for the last time, at `event`.
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

  /// A body copies its own arguments into stacks at its start.
  static bool isEarlyStack(Operation *op, Value value) {
    return isa<YieldOp>(op) && isa<BlockArgument>(value) &&
           value.getParentBlock() == op->getBlock();
  }

  void write(Value value) {
    AllocRefAttr ref = memory::getAllocRef(value);
    if (!ref || ref.getSpace() == MemorySpace::Inline)
      return;
    // Writing a slot does not change the value of its stack.
    content[ref] = getSource(value);
  }

  func::FuncOp function;
  memory::Liveness liveness;
  ArrayAttr allocations;
  DenseMap<AllocRefAttr, Value> content; ///< the value that each allocation or slot contains
  DenseMap<Value, Value> aliases;        ///< of a scanned input, the first equal one
};

struct VerifyMemory : titan::memory::impl::TitanVerifyMemoryBase<VerifyMemory> {
  void runOnOperation() override {
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
