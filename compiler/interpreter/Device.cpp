// Interprets the program of one virtual rank.

#include "compiler/interpreter/Device.h"

#include "compiler/interpreter/Collectives.h"
#include "compiler/interpreter/Layout.h"
#include "compiler/interpreter/Rounding.h"
#include "dialects/titan/IR/TensorType.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;
using ir::getTensorType;
using ir::HostTensor;
using ir::NamedTensorType;

std::string interpreter::describeLocation(Location location) {
  auto fileLoc = location->findInstanceOf<FileLineColLoc>();
  if (!fileLoc)
    return "?";
  return (llvm::sys::path::filename(fileLoc.getFilename()) + ":" + llvm::Twine(fileLoc.getLine()) +
          ":" + llvm::Twine(fileLoc.getColumn()))
      .str();
}

Device::Device(int64_t rank, const RankMesh &mesh, func::FuncOp function,
               std::unique_ptr<Memory> memory)
    : rank(rank), mesh(mesh), function(function), memory(std::move(memory)) {
  Block &entry = function.getBody().front();
  frames.push_back({&entry, entry.begin(), {}});
}

LogicalResult Device::setArguments(const std::vector<TensorRef> &arguments) {
  for (auto [argument, tensor] : llvm::zip_equal(function.getArguments(), arguments))
    if (failed(memory->write(argument, tensor)))
      return failure();
  return success();
}

std::string Device::describePosition() const {
  std::string text = func::FuncOp(function).getName().str();
  for (const Frame &frame : frames)
    if (frame.repeat)
      text.append(", ")
          .append(ir::RepeatOp(frame.repeat).getDim().getName().getValue())
          .append(" = ")
          .append(std::to_string(getIndex(frame)));
  return text.append(", ").append(describeLocation(frames.back().next->getLoc()));
}

FailureOr<bool> Device::run() {
  // Adds this rank's position to every diagnostic.
  ScopedDiagnosticHandler handler(function.getContext(), [&](Diagnostic &diagnostic) {
    diagnostic.attachNote() << "on rank " << rank << ": " << describePosition();
    return failure();
  });
  while (state == State::Running) {
    Operation *op = &*frames.back().next;
    FailureOr<bool> called = false;
    if (isCollective(op))
      called = call(op);
    else if (failed(execute(op)))
      return failure();
    if (failed(called) || *called)
      return called;
  }
  return false;
}

/// Moves to the next operation. Values in a fused region have no allocation.
void Device::advance() {
  Operation *op = &*frames.back().next++;
  if (!isa<ir::FusedOp>(op->getParentOp()))
    memory->finished(op);
}

LogicalResult Device::execute(Operation *op) {
  if (auto repeat = dyn_cast<ir::RepeatOp>(op))
    return enter(repeat);
  if (auto fused = dyn_cast<ir::FusedOp>(op)) {
    Block &body = fused.getBody().front();
    frames.push_back({&body, body.begin(), {}});
    return memory->checkOverlap(op);
  }
  if (auto yielded = dyn_cast<ir::YieldOp>(op))
    return frames.back().repeat ? yield(yielded) : leaveFused(yielded);
  if (auto waiting = dyn_cast<dist::WaitOp>(op))
    return wait(waiting);
  if (auto layer = dyn_cast<dist::LayerOp>(op))
    return readLayer(layer);
  if (auto returned = dyn_cast<func::ReturnOp>(op)) {
    if (failed(flights.checkNone(op)))
      return failure();
    auto finished = memory->returnFrom(returned);
    if (failed(finished))
      return failure();
    results = std::move(*finished);
    state = State::Finished;
    return success();
  }
  if (failed(memory->checkOverlap(op)) || failed(evaluate(op)))
    return failure();
  advance();
  return success();
}

LogicalResult Device::evaluate(Operation *op) {
  SmallVector<TensorRef> read;
  SmallVector<const HostTensor *> operands;
  for (Value operand : op->getOperands()) {
    read.push_back(memory->read(operand));
    operands.push_back(read.back().get());
  }
  if (isa<dist::LocalSliceOp, dist::MakePartialOp>(op)) {
    auto local = evaluateConversion(op, 0, mesh, {rank}, operands);
    if (failed(local))
      return failure();
    return memory->write(op->getResult(0), std::make_shared<HostTensor>(std::move(local->front())));
  }
  auto evaluable = dyn_cast<ir::EvaluableOpInterface>(op);
  if (!evaluable)
    return op->emitOpError("has no reference semantics (EvaluableOpInterface)");
  SmallVector<HostTensor> computed;
  for (Value result : op->getResults())
    computed.push_back(makePoisoned(getTensorType(result), mesh));
  if (failed(evaluable.evaluate(operands, computed, MeshRankShards(mesh, rank))))
    return failure();
  for (auto [result, tensor] : llvm::zip_equal(op->getResults(), computed)) {
    roundTo(getTensorType(result).getElementType(), tensor.data);
    if (failed(memory->write(result, std::make_shared<HostTensor>(std::move(tensor)))))
      return failure();
  }
  return success();
}

int64_t Device::getIndex(const Frame &frame) const {
  ir::RepeatOp repeat = frame.repeat;
  return repeat.getReverse() ? repeat.getDim().getSize() - 1 - frame.iteration : frame.iteration;
}

ir::RepeatVariant Device::getVariant(const Frame &frame) const {
  ir::RepeatOp repeat = frame.repeat;
  return repeat.getVariant(repeat.getIterations().getVariant(getIndex(frame)));
}

LogicalResult Device::enter(ir::RepeatOp repeat) {
  for (Value stack : repeat.getStackedOutputs())
    memory->beginStack(stack);
  frames.push_back({nullptr, {}, repeat});
  if (failed(memory->assign(getVariant(frames.back()).getIterArgs(), repeat.getInits())))
    return failure();
  memory->loops.push_back({0, repeat});
  if (failed(startIteration()))
    return failure();
  memory->begun(repeat);
  return success();
}

/// Whether a stacked output is an argument of its body. Such slots are stored before the body runs,
/// because the body may reuse the argument's memory.
static bool isStackedEarly(const ir::RepeatVariant &body, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &body.getBlock();
}

/// Sets the index and the scanned inputs of an iteration and stores the slots that are known
/// already.
LogicalResult Device::startIteration() {
  Frame &frame = frames.back();
  ir::RepeatVariant body = getVariant(frame);
  frame.block = &body.getBlock();
  frame.next = frame.block->begin();
  int64_t index = getIndex(frame);
  memory->loops.back().index = index;
  memory->beginIteration();
  HostTensor scalar{{}, {static_cast<double>(index)}};
  if (failed(memory->write(body.getIndex(), std::make_shared<HostTensor>(std::move(scalar)))))
    return failure();
  ir::IterationTable table = body.getRepeat().getIterations();
  for (auto [whole, argument, number] : body.getScannedInputs()) {
    int64_t slot = table.getSlots(body.getRepeat().getScannedUsers(number))[index];
    if (failed(memory->loadSlot(argument, whole, slot)))
      return failure();
  }
  return storeStackedOutputs(/*early=*/true);
}

LogicalResult Device::storeStackedOutputs(bool early) {
  ir::RepeatVariant body = getVariant(frames.back());
  ir::RepeatOp repeat = body.getRepeat();
  for (auto [value, result, operand] : body.getStackedOutputs()) {
    unsigned number = result.getResultNumber() - repeat.getNumIterArgs();
    int64_t slot =
        repeat.getIterations().getSlots(repeat.getStackedUsers(number))[getIndex(frames.back())];
    if (isStackedEarly(body, value) == early && failed(memory->storeSlot(result, slot, value)))
      return failure();
  }
  return success();
}

LogicalResult Device::yield(ir::YieldOp yield) {
  Frame &frame = frames.back();
  OperandRange next = getVariant(frame).getYieldedIterArgs();
  if (failed(storeStackedOutputs(/*early=*/false)))
    return failure();
  bool isLast = frame.iteration + 1 == ir::RepeatOp(frame.repeat).getDim().getSize();
  frame.iteration += !isLast;
  if (failed(memory->assign(getVariant(frame).getIterArgs(), next)))
    return failure();
  memory->finished(yield);
  return isLast ? leave() : startIteration();
}

/// A fused region computes the same values row by row and operation by operation.
LogicalResult Device::leaveFused(ir::YieldOp yield) {
  frames.pop_back();
  Operation *fused = &*frames.back().next;
  if (failed(memory->assign(fused->getResults(), yield.getValues())))
    return failure();
  advance();
  return success();
}

LogicalResult Device::leave() {
  ir::RepeatVariant last = getVariant(frames.back());
  frames.pop_back();
  memory->loops.pop_back();
  if (failed(memory->assign(last.getRepeat().getIterResults(), last.getIterArgs())))
    return failure();
  advance();
  return success();
}
