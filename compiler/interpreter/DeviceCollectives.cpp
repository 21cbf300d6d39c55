// Interprets the collectives of a virtual rank.

#include "compiler/interpreter/Device.h"

#include "compiler/interpreter/Collectives.h"
#include "compiler/interpreter/Layout.h"
#include "dialects/titan/IR/TensorType.h"

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;
using ir::getTensorType;
using ir::HostTensor;

/// Whether the collective starts on a layer that does not exist; it does not happen then.
static bool isMissing(Operation *op, ArrayRef<Memory::Loop> loops) {
  dist::LayerOp layer = dist::getLayer(op);
  return layer && !layer.exists(loops.empty() ? 0 : loops.back().index);
}

/// Results are undefined until the collective completes, or forever if it does not happen. A repeat
/// may still pass them to the next iteration.
LogicalResult Device::poisonResults(Operation *op) {
  for (Value result : op->getResults()) {
    auto poison = std::make_shared<HostTensor>(makePoisoned(getTensorType(result), mesh));
    if (failed(memory->write(result, std::move(poison))))
      return failure();
  }
  return success();
}

FailureOr<bool> Device::call(Operation *op) {
  if (failed(memory->checkOverlap(op)))
    return failure();
  bool isStart = dist::getStartChannel(op).has_value();
  // A result may share memory with an operand, so the operands are read first.
  std::vector<TensorRef> operands;
  for (Value operand : op->getOperands())
    operands.push_back(memory->read(operand));
  if (isStart && failed(poisonResults(op)))
    return failure();
  if (isStart && isMissing(op, memory->loops)) {
    advance();
    return false;
  }
  pendingCalls.push_back({op, operands, describeCall(op, mesh, rank, describePosition())});
  if (!isStart) {
    state = State::Waiting;
    return true;
  }
  if (failed(flights.start(op, std::move(operands), *memory)))
    return failure();
  advance();
  return true;
}

template <typename Calls> static auto findNext(Calls &pendingCalls, const Lane &lane) {
  return llvm::find_if(pendingCalls, [&](const auto &each) { return each.call.getLane() == lane; });
}

const Device::PendingCall &Device::getNext(const Lane &lane) const {
  return *findNext(pendingCalls, lane);
}

LogicalResult Device::complete(const Lane &lane, std::vector<HostTensor> results) {
  auto it = findNext(pendingCalls, lane);
  Operation *op = it->op;
  pendingCalls.erase(it);
  if (dist::getStartChannel(op)) {
    flights.land(op, std::move(results));
    if (state == State::Waiting && isa<dist::WaitOp>(*frames.back().next))
      state = State::Running;
    return success();
  }
  state = State::Running;
  for (auto [value, result] : llvm::zip_equal(op->getResults(), results))
    if (failed(memory->write(value, std::make_shared<HostTensor>(std::move(result)))))
      return failure();
  advance();
  return success();
}

LogicalResult Device::wait(dist::WaitOp op) {
  FailureOr<bool> isReady = flights.isReady(op);
  if (failed(isReady))
    return failure();
  if (!*isReady) {
    state = State::Waiting;
    return success();
  }
  if (failed(memory->checkOverlap(op)) || failed(flights.finish(op, *memory)))
    return failure();
  advance();
  return success();
}

LogicalResult Device::readLayer(dist::LayerOp op) {
  int64_t iteration = memory->loops.empty() ? 0 : memory->loops.back().index;
  TensorRef layer = op.exists(iteration)
                        ? memory->readSlot(op.getStack(), op.getPosition(iteration), op.getType())
                        : std::make_shared<HostTensor>(makePoisoned(op.getType(), mesh));
  if (failed(memory->write(op.getResult(), layer)))
    return failure();
  advance();
  return success();
}
