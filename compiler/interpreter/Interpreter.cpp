//===- Interpreter.cpp - Runs a program on virtual ranks ------------------===//

#include "compiler/interpreter/Interpreter.h"

#include "compiler/interpreter/Collectives.h"
#include "compiler/interpreter/Rendezvous.h"

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;

/// The properties that the calls of a group must share. Types may differ: stages may run different
/// programs.
static Call describeCall(const Device &device, const RankMesh &mesh) {
  const Device::Call &call = device.getCalls().back();
  std::string what;
  llvm::raw_string_ostream stream(what);
  stream << call.op->getName();
  for (auto [operand, result] : llvm::zip_equal(call.op->getOperands(), call.op->getResults())) {
    auto from = cast<ir::NamedTensorType>(operand.getType());
    auto to = cast<ir::NamedTensorType>(result.getType());
    if (operand != call.op->getOperand(0))
      stream << " and";
    else if (isa<dist::AllReduceOp, dist::ReduceScatterOp>(call.op))
      stream << ' '
             << dist::stringifyReductionKind(from.getShardingOrReplicated().getPartialKind());
    stream << " of " << dist::getLocalNumElements(from, mesh.getDegrees()) << " to "
           << dist::getLocalNumElements(to, mesh.getDegrees()) << ' ' << from.getElementType();
  }
  return {getParticipants(call.op, mesh, device.getRank()), what, call.position};
}

/// Executes the next collective of `device` on its group.
static LogicalResult meet(Device &device, std::vector<Device> &devices, const RankMesh &mesh) {
  Operation *op = device.getCalls().front().op;
  std::vector<int64_t> group = getParticipants(op, mesh, device.getRank());
  std::vector<std::vector<ir::HostTensor>> results(group.size());
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    SmallVector<const ir::HostTensor *> inputs;
    for (int64_t member : group)
      inputs.push_back(devices[member].getCalls().front().operands[i].get());
    auto given = evaluateConversion(op, i, mesh, group, inputs);
    if (failed(given))
      return failure();
    for (auto [list, result] : llvm::zip_equal(results, *given))
      list.push_back(std::move(result));
  }
  for (auto [member, result] : llvm::zip_equal(group, results))
    if (failed(devices[member].complete(std::move(result))))
      return failure();
  return success();
}

/// Runs a device to its next call of or wait for a collective, or to its end, and posts the call.
static LogicalResult advance(Device &device, Rendezvous &rendezvous, const RankMesh &mesh) {
  FailureOr<bool> called = device.run();
  if (failed(called))
    return failure();
  if (device.getState() == Device::State::Finished)
    rendezvous.finish(device.getRank());
  if (!*called)
    return success();
  if (auto problem = rendezvous.post(device.getRank(), describeCall(device, mesh)))
    return device.getCalls().back().op->emitOpError(*problem);
  return success();
}

/// Creates a device per rank and sets its arguments.
static FailureOr<std::vector<Device>>
makeDevices(ArrayRef<func::FuncOp> functions, const RankMesh &mesh, const RankTensors &arguments) {
  std::vector<Device> devices;
  for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank) {
    func::FuncOp function = functions[rank % functions.size()];
    FailureOr<std::unique_ptr<Memory>> memory =
        isPlanned(function) ? makeArenaMemory(function, mesh) : makeValueMemory(mesh);
    if (failed(memory))
      return failure();
    devices.emplace_back(rank, mesh, function, std::move(*memory));
    if (failed(devices.back().setArguments(arguments[rank])))
      return failure();
  }
  return devices;
}

FailureOr<RankTensors> interpreter::interpret(ArrayRef<func::FuncOp> functions,
                                              const RankMesh &mesh, const RankTensors &arguments) {
  FailureOr<std::vector<Device>> made = makeDevices(functions, mesh, arguments);
  if (failed(made))
    return failure();
  std::vector<Device> devices = std::move(*made);
  Rendezvous rendezvous(mesh.getNumRanks());
  for (bool progress = true; progress;) {
    progress = false;
    for (Device &device : devices) {
      if (device.getState() == Device::State::Running) {
        if (failed(advance(device, rendezvous, mesh)))
          return failure();
        progress = true;
      }
      if (!rendezvous.isComplete(device.getRank()))
        continue;
      if (failed(meet(device, devices, mesh)))
        return failure();
      if (auto problem = rendezvous.release(device.getRank())) {
        func::FuncOp function = functions.front();
        return function.emitError(*problem);
      }
      progress = true;
    }
  }
  RankTensors results;
  for (const Device &device : devices) {
    if (device.getState() != Device::State::Finished) {
      func::FuncOp function = functions.front();
      return function.emitError(rendezvous.describeDeadlock());
    }
    results.push_back(device.getResults());
  }
  return results;
}

/// Elements are doubles: at most 2 GiB per value.
static constexpr int64_t kMostElements = int64_t{1} << 28;

static LogicalResult checkSize(Location location, ir::NamedTensorType type) {
  int64_t elements = 1;
  for (ir::DimAttr dim : type.getDims())
    if (llvm::MulOverflow(elements, dim.getSize(), elements) || elements > kMostElements)
      return emitError(location) << type << " has more elements than the interpreter holds, "
                                 << kMostElements;
  return success();
}

LogicalResult interpreter::checkTypes(func::FuncOp function, const RankMesh &mesh) {
  auto check = [&](Location location, Type type) -> LogicalResult {
    auto tensor = dyn_cast<ir::NamedTensorType>(type);
    if (!tensor)
      return success();
    if (failed(checkSize(location, tensor)))
      return failure();
    for (auto [d, dim] : llvm::enumerate(tensor.getDims()))
      if (int64_t divisor =
              dist::getDivisor(tensor.getShardingOrReplicated(), d, mesh.getDegrees());
          dim.getSize() % divisor != 0)
        return emitError(location, "dimension ")
               << dim.getName() << " of size " << dim.getSize() << " is sharded into " << divisor
               << (tensor.getShardingOrReplicated().getHeadTailAxis(d) ? " blocks" : " shards")
               << ", which do not divide it";
    return success();
  };
  WalkResult walk = function.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (failed(check(op->getLoc(), result.getType())))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  for (Value argument : function.getArguments())
    if (failed(check(argument.getLoc(), argument.getType())))
      return failure();
  return success();
}
