//===- VerifyMemory.cpp - The pass --titan-verify-memory ------------------===//
//
// Replays a program on its buffers, apart from the planner's reasoning: a table says which value
// each place holds, writing a result replaces it, and reading an operand whose place holds another
// value is an error. Bodies of repeats are replayed twice, one after the other, so that what an
// iteration leaves behind meets itself and every other one. Lifetimes are checked against the same
// walk; what the function gives must be alive at its end, when it is read. What a repeat hands over
// is checked slot by slot (VerifyHandovers.cpp).
//
//===----------------------------------------------------------------------===//

#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/Support/Views.h"
#include "dialects/titan/Transforms/Memory/BlockStorage.h"
#include "dialects/titan/Transforms/Memory/Handovers.h"
#include "dialects/titan/Transforms/Memory/Liveness.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

/// What is stored by block is only touched slot by slot.
static LogicalResult checkSlots(func::FuncOp function) {
  SmallVector<BufferAttr> persistent;
  if (auto all =
          function->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(memory::kPersistent))
    persistent = llvm::to_vector(all.getAsRange<BufferAttr>());
  auto isApart = [&](Value value) {
    PlaceAttr place = memory::getPlace(value);
    return place && memory::isApart(place, persistent);
  };
  WalkResult result = function->walk([&](Operation *op) {
    for (OpOperand &use : op->getOpOperands())
      if (isApart(use.get()) && !memory::readsSlots(use)) {
        op->emitError("reads the whole of operand ")
            << use.getOperandNumber() << ", which is stored by block";
        return WalkResult::interrupt();
      }
    if (llvm::any_of(op->getResults(), isApart) && !memory::walksSlots(op)) {
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
        buffers(function->getAttrOfType<ArrayAttr>(memory::kBuffers)) {}

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
        if (failed(checkBegun(&op, memory::getPlace(result))))
          return failure();
        write(result);
      }
      if (isa<func::ReturnOp>(op) && failed(checkKept(&op)))
        return failure();
    }
    return success();
  }

  /// `op` writes to `place`.
  LogicalResult checkBegun(Operation *op, PlaceAttr place) {
    if (!place || place.getSpace() != MemorySpace::Transient)
      return success();
    auto buffer = cast<BufferAttr>(buffers[place.getBuffer()]);
    if (int64_t event = liveness.getStart(op); event < buffer.getFirst())
      return op->emitError("writes to buffer ") << place.getBuffer() << " at event " << event
                                                << ", before its first, " << buffer.getFirst();
    return success();
  }

  LogicalResult checkKept(Operation *op) {
    auto places = op->getAttrOfType<ArrayAttr>(memory::kArguments);
    if (!places)
      return success();
    for (auto [i, place] : llvm::enumerate(places.getAsRange<PlaceAttr>())) {
      if (failed(checkBegun(op, place)))
        return failure();
      if (place.getSpace() != MemorySpace::Transient)
        continue;
      auto buffer = cast<BufferAttr>(buffers[place.getBuffer()]);
      if (buffer.getLast() < liveness.getEnd(op))
        return op->emitError("gives result ")
               << i << " in buffer " << place.getBuffer() << ", whose last event is "
               << buffer.getLast() << ", not " << liveness.getEnd(op);
    }
    return success();
  }

  /// What is in flight cannot be copied: each next one lands where it is carried.
  LogicalResult checkFlights(RepeatOp repeat) {
    for (auto [i, argument] : llvm::enumerate(repeat.getVariant(0).getCarriedArgs())) {
      auto isAwaited = [&](Operation *user) {
        auto wait = dyn_cast<dist::WaitOp>(user);
        return wait && llvm::is_contained(wait.getFlights(), argument);
      };
      if (llvm::none_of(argument.getUsers(), isAwaited))
        continue;
      SmallVector<Value> values = repeat.getYielded(i);
      values.push_back(repeat.getInits()[i]);
      for (Value value : values)
        if (memory::getPlace(value) != memory::getPlace(argument))
          return repeat.emitError("carries a value in flight from ")
                 << memory::getPlace(value) << " to " << memory::getPlace(argument);
    }
    return success();
  }

  LogicalResult replayRepeat(RepeatOp repeat) {
    if (failed(checkFlights(repeat)))
      return failure();
    findTwins(repeat);
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
  void findTwins(RepeatOp repeat) {
    for (unsigned v = 0; v < repeat.getBodies().size(); ++v) {
      DenseMap<std::pair<Value, PlaceAttr>, Value> firsts;
      for (const RepeatVariant::Slice &slice : repeat.getVariant(v).getSlices()) {
        std::pair key(ir::getRoot(slice.stack), memory::getPlace(slice.slice));
        if (key.second)
          twins[slice.slice] = firsts.try_emplace(key, slice.slice).first->second;
      }
    }
  }

  /// The value whose bytes these are.
  Value getSource(Value value) const {
    Value root = ir::getRoot(value);
    auto it = twins.find(root);
    return it == twins.end() ? root : it->second;
  }

  /// Values that operations of the op's regions read are read by the op, for fused ones.
  LogicalResult read(Operation *op) {
    LogicalResult result = success();
    if (auto repeat = dyn_cast<RepeatOp>(op)) {
      // What is carried is copied at the start; slices are read in every iteration.
      for (Value init : repeat.getInits())
        result = failed(check(op, init, liveness.getStart(op))) ? failure() : result;
      for (Value whole : repeat.getSlices())
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
    PlaceAttr place = memory::getPlace(value);
    if (!place)
      return op->emitError("reads a value without a place");
    if (place.getSpace() == MemorySpace::Inline)
      return success();
    if (isEarlyStack(op, value))
      return success();
    Value held = content.lookup(place);
    if (held != getSource(value))
      return op->emitError("reads a value whose place ") << place << " holds another";
    if (place.getSpace() != MemorySpace::Transient)
      return success();
    auto buffer = cast<BufferAttr>(buffers[place.getBuffer()]);
    if (event > buffer.getLast() && op->getBlock() == value.getParentBlock())
      return op->emitError("reads from buffer ") << place.getBuffer() << " at event " << event
                                                 << ", after its last, " << buffer.getLast();
    return success();
  }

  /// A repeat's own argument that is stacked is copied at the start of the body.
  static bool isEarlyStack(Operation *op, Value value) {
    return isa<YieldOp>(op) && isa<BlockArgument>(value) &&
           value.getParentBlock() == op->getBlock();
  }

  void write(Value value) {
    PlaceAttr place = memory::getPlace(value);
    if (!place || place.getSpace() == MemorySpace::Inline)
      return;
    // A slot belongs to its stack, whose value stays what it is.
    content[place] = getSource(value);
  }

  func::FuncOp function;
  memory::Liveness liveness;
  ArrayAttr buffers;
  DenseMap<PlaceAttr, Value> content;
  DenseMap<Value, Value> twins; ///< of a slice, the first that is the same
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
        if (failed(memory::verifyPlaces(function, /*isWhole=*/false)) ||
            failed(checkSlots(function)) || failed(Replay(function).run()) ||
            failed(memory::verifyHandovers(function)))
          return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace

std::unique_ptr<Pass> memory::createVerifyMemoryPass() {
  return std::make_unique<VerifyMemoryPass>();
}
