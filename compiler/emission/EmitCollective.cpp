// Emits calls of the runtime's collectives.

#include "compiler/emission/CollectiveEmitter.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

/// The condition under which a prefetch runs; empty if it always does.
static std::string getGuard(FunctionEmitter &emitter, Operation *op) {
  dist::LayerOp layer = dist::getLayer(op);
  if (!layer || !layer.getIndex() || layer.getOffset() == 0)
    return "";
  int64_t offset = layer.getOffset();
  std::string index = emitter.getInlineScalar(layer.getIndex());
  if (offset < 0)
    return "if (" + index + " >= " + std::to_string(-offset) + ")";
  DimAttr dim = layer.getStack().getType().getDims().front();
  return "if (" + index + " + " + std::to_string(offset) + " < " +
         emitter.sizes().getSize(dim, ArrayAttr::get(op->getContext(), {})).name + ")";
}

/// Emits one call for all operands; `head` is its text up to the operands (getCallHead()).
static void emitCall(FunctionEmitter &emitter, Operation *op, ArrayRef<CollectiveOperand> operands,
                     const std::string &head) {
  Writer &out = emitter.out();
  std::optional<int64_t> channel = dist::getStartChannel(op);
  const bool hasOverload = !isa<dist::PermuteOp>(op) && !operands[0].isHeadTail;
  if (operands.size() == 1 && !channel && hasOverload)
    return out.line(isa<dist::AllReduceOp>(op) ? head + ", " + operands[0].out + ", " +
                                                     operands[0].transfer.sharded.str() + ");"
                                               : head + ", " + getArguments(operands[0]) + ");");
  std::string guard = getGuard(emitter, op);
  if (!guard.empty()) {
    out.line(guard);
    out.indent();
  }
  std::string end = channel ? "}, " + std::to_string(*channel) + ");" : "});";
  out.line(head + ",");
  out.indent();
  for (auto [i, operand] : llvm::enumerate(operands))
    out.line((i ? " {" : "{{") + getArguments(operand) +
             (i + 1 < operands.size() ? "}," : "}" + end));
  out.unindent();
  if (!guard.empty())
    out.unindent();
}

/// The index of a value's persistent allocation; -1 for other values.
static int64_t getStoragePosition(Value value) {
  if (auto layer = value.getDefiningOp<dist::LayerOp>())
    value = layer.getStack();
  AllocRefAttr ref = memory::getAllocRef(value);
  return ref && ref.getSpace() == MemorySpace::Persistent ? ref.getIndex() : -1;
}

/// Operands in the order of the persistent layout, so that a transport can send them as one
/// message.
static SmallVector<unsigned> getStorageOrder(Operation *op) {
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq(op->getNumOperands()));
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return getStoragePosition(op->getOperand(a)) < getStoragePosition(op->getOperand(b));
  });
  return order;
}

static LogicalResult emitCollectiveCall(FunctionEmitter &emitter, Operation *op) {
  CollectiveEmitter first(emitter, op, 0);
  bool isAlone = op->getNumOperands() == 1 && !dist::getStartChannel(op);
  if (isAlone && first.hasRows())
    return isa<dist::AllGatherOp>(op) ? first.gatherRows() : first.scatterRows();
  SmallVector<CollectiveOperand> operands;
  for (unsigned i : getStorageOrder(op)) {
    CollectiveEmitter value(emitter, op, i);
    if (value.hasRows())
      return op->emitError("cannot emit a collective of a whole stack together with others");
    FailureOr<CollectiveOperand> operand =
        llvm::TypeSwitch<Operation *, FailureOr<CollectiveOperand>>(op)
            .Case([&](dist::AllGatherOp) { return value.gather(); })
            .Case([&](dist::ReduceScatterOp) { return value.scatter(); })
            .Case([&](dist::AllToAllOp) { return value.allToAll(); })
            .Case([&](dist::PermuteOp) { return value.permute(); })
            .Default([&](Operation *) { return value.reduce(); });
    if (failed(operand))
      return failure();
    operands.push_back(*operand);
  }
  emitCall(emitter, op, operands, first.getCallHead());
  for (const CollectiveOperand &operand : operands)
    if (!operand.after.empty())
      emitter.out().line(operand.after);
  return success();
}

/// The call of an end of a message, for the data of `value`.
static LogicalResult emitMessage(FunctionEmitter &emitter, Operation *op, Value value) {
  auto type = cast<NamedTensorType>(value.getType());
  std::optional<int64_t> channel = dist::getStartChannel(op);
  emitter.out().line((isa<dist::SendOp>(op) ? "send(ctx, " : "receive(ctx, ") +
                     emitter.getGroup(op->getAttrOfType<ArrayAttr>("axes")) + ", " +
                     getDType(type.getElementType()) + ", " +
                     std::to_string(op->getAttrOfType<IntegerAttr>("offset").getInt()) + ", " +
                     emitter.getPointer(value) + ", " + emitter.sizes().getCount(type).str() +
                     (channel ? ", " + std::to_string(*channel) : "") + ");");
  return success();
}

/// On a rank without a sender, the result is the operand.
static LogicalResult emitReceive(FunctionEmitter &emitter, dist::ReceiveOp receive) {
  if (memory::getAllocRef(receive.getInput()) != memory::getAllocRef(receive.getResult()))
    emitter.copyTo(receive.getInput(), emitter.getPointer(receive.getResult()));
  return emitMessage(emitter, receive, receive.getResult());
}

/// Waits, and copies iteration arguments in flight to their uses, so that the next collective may
/// write.
static LogicalResult emitWait(FunctionEmitter &emitter, dist::WaitOp wait) {
  emitter.out().line("finish(ctx, " + std::to_string(wait.getChannel()) + ");");
  for (auto [flight, result] : llvm::zip_equal(wait.getFlights(), wait.getResults()))
    if (memory::getAllocRef(flight) != memory::getAllocRef(result))
      emitter.copyTo(flight, emitter.getPointer(result));
  return success();
}

LogicalResult emission::emitCollective(FunctionEmitter &emitter, Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<dist::AllGatherOp, dist::ReduceScatterOp, dist::AllReduceOp, dist::AllToAllOp,
            dist::PermuteOp>([&](Operation *) { return emitCollectiveCall(emitter, op); })
      .Case([&](dist::SendOp send) { return emitMessage(emitter, op, send.getInput()); })
      .Case([&](dist::ReceiveOp receive) { return emitReceive(emitter, receive); })
      .Case([&](dist::LocalSliceOp) { return CollectiveEmitter(emitter, op, 0).localSlice(); })
      .Case([&](dist::MakePartialOp) { return CollectiveEmitter(emitter, op, 0).makePartial(); })
      .Case([&](dist::WaitOp wait) { return emitWait(emitter, wait); })
      .Default([&](Operation *) {
        return LogicalResult(op->emitError("cannot emit '") << op->getName() << "'");
      });
}
