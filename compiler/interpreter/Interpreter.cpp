//===- Interpreter.cpp - Runs a program on virtual ranks ------------------===//

#include "compiler/interpreter/Interpreter.h"

#include "compiler/interpreter/Collectives.h"

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;

/// Executes the ends of a message: the receiver's result is the sender's operand. Without a
/// partner, a receive returns its own operand.
static LogicalResult deliver(const Lane &lane, std::vector<Device> &devices) {
  TensorRef value = devices[lane.ranks.front()].getNext(lane).operands.front();
  for (int64_t member : lane.ranks) {
    bool receives = isa<dist::ReceiveOp>(devices[member].getNext(lane).op);
    std::vector<ir::HostTensor> results(receives ? 1 : 0, *value);
    if (failed(devices[member].complete(lane, std::move(results))))
      return failure();
  }
  return success();
}

/// Executes the next call of a lane, of which `device` is a member.
static LogicalResult meet(const Lane &lane, const Device &device, std::vector<Device> &devices,
                          const RankMesh &mesh) {
  if (lane.isForMessages)
    return deliver(lane, devices);
  Operation *op = device.getNext(lane).op;
  std::vector<int64_t> group = device.getNext(lane).call.group;
  std::vector<std::vector<ir::HostTensor>> results(group.size());
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    SmallVector<const ir::HostTensor *> inputs;
    for (int64_t member : group)
      inputs.push_back(devices[member].getNext(lane).operands[i].get());
    auto given = evaluateConversion(op, i, mesh, group, inputs);
    if (failed(given))
      return failure();
    for (auto [list, result] : llvm::zip_equal(results, *given))
      list.push_back(std::move(result));
  }
  for (auto [member, result] : llvm::zip_equal(group, results))
    if (failed(devices[member].complete(lane, std::move(result))))
      return failure();
  return success();
}

/// Runs a device to its next call of or wait for a collective, or to its end, and posts the call.
static LogicalResult advance(Device &device, Rendezvous &rendezvous) {
  FailureOr<bool> called = device.run();
  if (failed(called))
    return failure();
  if (device.getState() == Device::State::Finished)
    rendezvous.finish(device.getRank());
  if (!*called)
    return success();
  if (auto problem = rendezvous.post(device.getRank(), device.getLast().call))
    return device.getLast().op->emitOpError(*problem);
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
        if (failed(advance(device, rendezvous)))
          return failure();
        progress = true;
      }
      std::optional<Lane> lane = rendezvous.findComplete(device.getRank());
      if (!lane)
        continue;
      if (failed(meet(*lane, device, devices, mesh)))
        return failure();
      if (auto problem = rendezvous.release(*lane)) {
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
    for (auto [dim, axes] :
         llvm::zip_equal(tensor.getDims(), tensor.getShardingOrReplicated().getDimAxes()))
      if (int64_t degreeProduct = dist::getDegreeProduct(axes, mesh.getDegrees());
          dim.getSize() % degreeProduct != 0)
        return emitError(location, "dimension ")
               << dim.getName() << " of size " << dim.getSize() << " is sharded into "
               << degreeProduct << " shards, which do not divide it";
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
