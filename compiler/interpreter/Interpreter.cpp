// Runs a program on virtual ranks.

#include "compiler/interpreter/Interpreter.h"

#include "compiler/interpreter/Collectives.h"

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;

namespace {

/// The ranks of a mesh, each with the function that it is running.
class Machine {
public:
  Machine(Script &script, const RankMesh &mesh, Location location)
      : script(script), mesh(mesh), location(location), devices(mesh.getNumRanks()),
        rendezvous(mesh.getNumRanks()) {}

  /// Runs all ranks to the end of the script.
  LogicalResult run();

private:
  FailureOr<bool> proceed(int64_t rank);
  LogicalResult advance(Device &device);
  FailureOr<bool> startNext(int64_t rank);
  LogicalResult executeNext(const Lane &lane, const Device &device);
  LogicalResult deliver(const Lane &lane);

  Script &script;
  const RankMesh &mesh;
  Location location;                            ///< of errors that concern several ranks
  std::vector<std::unique_ptr<Device>> devices; ///< null: between two functions
  Rendezvous rendezvous;
};

} // namespace

/// Executes the ends of the next message of a lane: the receiver's result is the sender's operand.
/// Without a partner, a receive returns its own operand.
LogicalResult Machine::deliver(const Lane &lane) {
  TensorRef value = devices[lane.ranks.front()]->getNext(lane).operands.front();
  for (int64_t member : lane.ranks) {
    bool receives = isa<dist::ReceiveOp>(devices[member]->getNext(lane).op);
    std::vector<ir::HostTensor> results(receives ? 1 : 0, *value);
    if (failed(devices[member]->complete(lane, std::move(results))))
      return failure();
  }
  return success();
}

/// Executes the next call of a lane, of which `device` is a member.
LogicalResult Machine::executeNext(const Lane &lane, const Device &device) {
  if (lane.isForMessages)
    return deliver(lane);
  Operation *op = device.getNext(lane).op;
  std::vector<int64_t> group = device.getNext(lane).call.group;
  std::vector<std::vector<ir::HostTensor>> results(group.size());
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    SmallVector<const ir::HostTensor *> inputs;
    for (int64_t member : group)
      inputs.push_back(devices[member]->getNext(lane).operands[i].get());
    auto given = evaluateConversion(op, i, mesh, group, inputs);
    if (failed(given))
      return failure();
    for (auto [list, result] : llvm::zip_equal(results, *given))
      list.push_back(std::move(result));
  }
  for (auto [member, result] : llvm::zip_equal(group, results))
    if (failed(devices[member]->complete(lane, std::move(result))))
      return failure();
  return success();
}

/// Runs a device to its next call of or wait for a collective, or to its end, and posts the call.
LogicalResult Machine::advance(Device &device) {
  FailureOr<bool> called = device.run();
  if (failed(called))
    return failure();
  if (!*called)
    return success();
  if (auto problem = rendezvous.post(device.getRank(), device.getLast().call))
    return device.getLast().op->emitOpError(*problem);
  return success();
}

/// Starts the next function of a rank that has finished one. False if there is none yet.
FailureOr<bool> Machine::startNext(int64_t rank) {
  std::unique_ptr<Device> &device = devices[rank];
  if (device) {
    if (failed(script.finish(*device)))
      return failure();
    device.reset();
    if (script.isFinished(rank))
      rendezvous.finish(rank);
  }
  FailureOr<std::unique_ptr<Device>> next = script.start(rank);
  if (failed(next))
    return failure();
  device = std::move(*next);
  return device != nullptr;
}

/// Does what `rank` can do now. False if it can do nothing.
FailureOr<bool> Machine::proceed(int64_t rank) {
  bool progress = false;
  if (!devices[rank] || devices[rank]->getState() == Device::State::Finished) {
    progress = devices[rank] != nullptr;
    FailureOr<bool> started = startNext(rank);
    if (failed(started) || !*started)
      return failed(started) ? started : FailureOr<bool>(progress);
  }
  Device &device = *devices[rank];
  if (device.getState() == Device::State::Running) {
    if (failed(advance(device)))
      return failure();
    progress = true;
  }
  std::optional<Lane> lane = rendezvous.findComplete(rank);
  if (!lane)
    return progress;
  if (failed(executeNext(*lane, device)))
    return failure();
  if (auto problem = rendezvous.release(*lane))
    return emitError(location, *problem);
  return true;
}

LogicalResult Machine::run() {
  for (bool progress = true; progress;) {
    progress = false;
    for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank) {
      FailureOr<bool> proceeded = proceed(rank);
      if (failed(proceeded))
        return failure();
      progress |= *proceeded;
    }
  }
  InFlightDiagnostic deadlock = emitError(location, rendezvous.describeDeadlock());
  bool isDeadlock = false;
  for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank) {
    if (script.isFinished(rank))
      continue;
    isDeadlock = true;
    if (!devices[rank])
      deadlock.attachNote() << "rank " << rank << " waits for " << script.describeWait(rank);
  }
  if (isDeadlock)
    return deadlock;
  deadlock.abandon();
  return success();
}

namespace {

/// Every rank runs one function.
class OneFunctionEach : public Script {
public:
  OneFunctionEach(ArrayRef<func::FuncOp> functions, const RankMesh &mesh,
                  const RankTensors &arguments)
      : functions(functions), mesh(mesh), arguments(arguments), results(mesh.getNumRanks()),
        started(mesh.getNumRanks()), finished(mesh.getNumRanks()) {}

  FailureOr<std::unique_ptr<Device>> start(int64_t rank) override {
    if (started[rank])
      return std::unique_ptr<Device>();
    started[rank] = true;
    return makeDevice(functions[rank % functions.size()], rank, mesh, arguments[rank]);
  }
  LogicalResult finish(const Device &device) override {
    results[device.getRank()] = device.getResults();
    finished[device.getRank()] = true;
    return success();
  }
  bool isFinished(int64_t rank) const override { return finished[rank]; }
  std::string describeWait(int64_t) const override { return "nothing"; }

  RankTensors takeResults() { return std::move(results); }

private:
  ArrayRef<func::FuncOp> functions;
  const RankMesh &mesh;
  const RankTensors &arguments;
  RankTensors results;
  std::vector<bool> started, finished;
};

} // namespace

FailureOr<std::unique_ptr<Device>>
interpreter::makeDevice(func::FuncOp function, int64_t rank, const RankMesh &mesh,
                        const std::vector<TensorRef> &arguments) {
  FailureOr<std::unique_ptr<Memory>> memory =
      isPlanned(function) ? makeArenaMemory(function, mesh) : makeValueMemory(mesh);
  if (failed(memory))
    return failure();
  auto device = std::make_unique<Device>(rank, mesh, function, std::move(*memory));
  if (failed(device->setArguments(arguments)))
    return failure();
  return device;
}

LogicalResult interpreter::runScript(Script &script, const RankMesh &mesh, Location location) {
  return Machine(script, mesh, location).run();
}

FailureOr<RankTensors> interpreter::interpret(ArrayRef<func::FuncOp> functions,
                                              const RankMesh &mesh, const RankTensors &arguments) {
  OneFunctionEach script(functions, mesh, arguments);
  func::FuncOp function = functions.front();
  if (failed(runScript(script, mesh, function.getLoc())))
    return failure();
  return script.takeResults();
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
