#include "Executor.h"

#include "base/Error.h"
#include "base/data/DType.h"
#include "flight/FlightRecorder.h"
#include "numbers/NumberWatch.h"
#include "profile/Trace.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

namespace titan::rt {

namespace {

Mesh makeMesh(const Program &program, const std::vector<int64_t> &degrees) {
  std::vector<MeshAxis> axes;
  for (size_t i = 0; i < program.mesh.size(); ++i)
    axes.push_back({program.mesh[i].name, static_cast<int>(degrees[i])});
  return Mesh(axes);
}

std::vector<int64_t> getCoordinates(const Mesh &mesh, int rank) {
  std::vector<int> narrow = mesh.coordinates(rank);
  return {narrow.begin(), narrow.end()};
}

} // namespace

void Executor::checkDivisibility(const Program &program, const std::vector<int64_t> &degrees) {
  auto refuse = [&](const TensorInfo &info, const std::string &where) {
    std::string problem = checkDivisible(info, program.mesh, degrees);
    if (!problem.empty())
      throw UserError(
          fmt::format("{} (in {}); launch a number of processes that divides it", problem, where));
  };
  for (const Tensor &tensor : program.tensors)
    refuse(tensor.info, fmt::format("'{}'", tensor.name));
  for (const Dim &dim : program.shardedDims)
    refuse({program.dtype, {dim}, {}}, "a value of the model");
}

Executor::Executor(Program program, std::vector<int64_t> resolved, World &world,
                   std::unique_ptr<Device> device)
    : emittedProgram(std::move(program)), ownDevice(std::move(device)),
      degrees(std::move(resolved)),
      coordinates(getCoordinates(makeMesh(emittedProgram, degrees), world.rank())),
      collectives(world, makeMesh(emittedProgram, degrees), *ownDevice),
      pipelines(pipelineTable(emittedProgram), degrees, coordinates),
      memory(emittedProgram, pipelines, *ownDevice), offsets(memory.persistent()) {
  collectives.connect(emittedProgram.routes);
  context.arena = memory.base();
  context.degree = degrees.data();
  context.coordinate = coordinates.data();
  context.collectives = &collectives;
  context.stream = ownDevice->stream();
  context.badIndex = ownDevice->badIndex();
  prepared.assign(emittedProgram.functions.size(), ownDevice->isHost());
  fragmentOffsets.reserve(offsets.size()); // a step allocates nothing
  if (pipelines.axis() >= 0)
    messages =
        std::make_unique<RankMessages>(emittedProgram, pipelines, memory, collectives, *ownDevice);
}

Executor::~Executor() = default;

const Tensor *Executor::find(Role role, const std::string &name,
                             const std::string &function) const {
  const std::string &owner =
      role == Role::Output ? pipelines.getOutputFunction(function) : function;
  for (const Tensor &tensor : emittedProgram.tensors)
    if (tensor.role == role && tensor.name == name &&
        (tensor.function.empty() || tensor.function == owner))
      return &tensor;
  return nullptr;
}

bool Executor::has(const Tensor &tensor) const {
  return isPersistent(tensor) ? memory.has(static_cast<size_t>(tensor.allocation))
                              : pipelines.runs(tensor.function);
}

bool Executor::isPersistent(const Tensor &tensor) const {
  return tensor.function.empty() || pipelines.find(tensor.function);
}

bool Executor::isTransientGradient(const Tensor &tensor) const {
  return tensor.role == Role::Gradient && !isPersistent(tensor);
}

std::byte *Executor::getData(const Tensor &tensor) const {
  if (gradients && isTransientGradient(tensor))
    return gradients->getData(tensor);
  return getAddress(tensor);
}

std::byte *Executor::getAddress(const Tensor &tensor) const {
  const std::vector<int64_t> &all =
      isPersistent(tensor) ? memory.persistent() : memory.transient(functionIndex(tensor.function));
  return memory.base() + all[tensor.allocation];
}

Executor::Slots Executor::getSlots(const Tensor &tensor) const {
  std::vector<std::vector<int64_t>> levels = stackedIterations(tensor);
  Slots slots{layerInfo(tensor.info, levels.size()), 1, 0, 0};
  for (const std::vector<int64_t> &iterations : levels)
    slots.count *= static_cast<int64_t>(iterations.size());
  slots.bytes = getLayout(slots.info).localElements() * getByteSize(slots.info.dtype);
  int64_t stride = isPersistent(tensor) ? memory.slotStride(tensor.allocation) : 0;
  slots.stride = stride ? stride : slots.bytes;
  return slots;
}

HostView Executor::view(const Tensor &tensor, HostView::Access access) const {
  Slots slots = getSlots(tensor);
  return HostView(*ownDevice, getData(tensor), slots.count * slots.bytes, access);
}

ShardLayout Executor::getLayout(const TensorInfo &tensor) const {
  return ShardLayout(makeSharding(tensor, degrees, coordinates));
}

/// Every rank has an output. A shard of another tensor is on the ranks whose stages use it.
bool Executor::isWriter(const Tensor &tensor) const {
  if (!has(tensor))
    return false;
  std::vector<int64_t> position = coordinates;
  if (pipelines.axis() >= 0 && tensor.role != Role::Output) {
    const bool isFirst =
        !isPersistent(tensor) || pipelines.isHolder(static_cast<size_t>(tensor.allocation));
    position[static_cast<size_t>(pipelines.axis())] = isFirst ? 0 : 1;
  }
  return isShardWriter(tensor.info, position);
}

size_t Executor::findFunction(const std::string &name) const {
  for (size_t i = 0; i < emittedProgram.functions.size(); ++i)
    if (emittedProgram.functions[i].name == name)
      return i;
  return kNone;
}

size_t Executor::functionIndex(const std::string &name) const {
  const size_t index = findFunction(name);
  if (index == kNone)
    throw UserError(fmt::format("the program has no entry point '{}'", name));
  return index;
}

bool Executor::hasFunction(const std::string &name) const {
  return pipelines.find(name) || findFunction(name) != kNone;
}

void Executor::runFunction(size_t index) {
  context.transient = memory.transient(index).data();
  context.location = context.action = "";
  emittedProgram.functions[index].run(context);
  trace(context, "", "");
  if (!gradients || context.preparing)
    return;
  for (const Tensor &tensor : emittedProgram.tensors)
    if (isTransientGradient(tensor) && tensor.function == emittedProgram.functions[index].name)
      gradients->copy(tensor, getAddress(tensor));
}

void Executor::keepGradients(bool enabled) {
  gradients.reset();
  if (!enabled)
    return;
  std::map<const Tensor *, int64_t> sizes;
  for (const Tensor &tensor : emittedProgram.tensors)
    if (isTransientGradient(tensor) && has(tensor)) {
      const Slots slots = getSlots(tensor);
      sizes[&tensor] = slots.count * slots.bytes;
    }
  gradients.emplace(*ownDevice, sizes);
}

void Executor::setTrace(Trace *trace) {
  context.trace = trace;
  if (messages)
    messages->setTrace(trace);
}

void Executor::startRecording(const std::string &runDirectory) {
  flight = std::make_unique<FlightRecorder>(runDirectory, world().rank(), world().size());
  context.flight = flight.get();
  if (messages)
    messages->setFlight(flight.get());
}

void Executor::recordStep(int64_t step) {
  if (flight)
    flight->setStep(step);
}

void Executor::recordFailure() {
  if (flight)
    flight->fail();
}

void Executor::stopRecording() {
  context.flight = nullptr;
  if (messages)
    messages->setFlight(nullptr);
  if (flight)
    flight->discard();
}

void Executor::setTraffic(Traffic *traffic) {
  collectives.setTraffic(traffic);
  if (messages)
    messages->setTraffic(traffic);
}

double Executor::waitedSeconds() const {
  return collectives.waitedSeconds() + (messages ? messages->waitedSeconds() : 0);
}

int64_t Executor::packingBytes() const {
  return collectives.packingBytes() + (messages ? messages->packingBytes() : 0);
}

void Executor::prepareFunction(size_t index) {
  if (prepared[index])
    return;
  context.preparing = true;
  runFunction(index);
  context.preparing = false;
  ownDevice->synchronize(); // reports failures
  prepared[index] = true;
}

void Executor::numberAllocations(const RankPlan &plan, const PlannedCall &call) {
  fragmentOffsets.clear();
  for (int allocation : plan.uses[static_cast<size_t>(call.fragment.fragment)])
    fragmentOffsets.push_back(offsets[static_cast<size_t>(allocation)]);
  context.persistent = fragmentOffsets.data();
}

void Executor::prepareCall(const RankPlan &plan, const PlannedCall &call) {
  if (prepared[call.function])
    return;
  numberAllocations(plan, call);
  prepareFunction(call.function);
}

void Executor::prepare(const std::string &name) {
  if (const RankPlan *plan = pipelines.find(name)) {
    for (const PlannedCall &call : plan->calls)
      prepareCall(*plan, call);
    return;
  }
  context.persistent = offsets.data();
  prepareFunction(functionIndex(name));
}

void Executor::run(const std::string &name) {
  prepare(name);
  if (context.numbers)
    context.numbers->beginFunction();
  if (const RankPlan *plan = pipelines.find(name))
    runStep(*plan, *messages, [&](const PlannedCall &call) {
      announceFragment(name, call);
      runCall(*plan, call);
    });
  else
    runFunction(functionIndex(name));
}

void Executor::announceFragment(const std::string &name, const PlannedCall &call) {
  if (!context.numbers)
    return;
  const auto pipeline =
      std::find_if(emittedProgram.pipelines.begin(), emittedProgram.pipelines.end(),
                   [&](const Pipeline &each) { return each.program == name; });
  const Fragment &fragment = pipeline->fragments[static_cast<size_t>(call.fragment.fragment)];
  const int64_t last = pipeline->stages - 1, back = last + 1 + 2 * (last - fragment.stage);
  switch (fragment.kind) {
  case FragmentKind::Begin:
    return context.numbers->beginFragment({0, -1, fragment.level});
  case FragmentKind::Forward:
    return context.numbers->beginFragment({1, call.fragment.microbatch, fragment.stage});
  case FragmentKind::Backward:
    return context.numbers->beginFragment({1, call.fragment.microbatch, back});
  case FragmentKind::Wgrad:
    return context.numbers->beginFragment({1, call.fragment.microbatch, back + 1});
  case FragmentKind::Update:
  case FragmentKind::Evaluate:
    return context.numbers->beginFragment({2, -1, fragment.level});
  }
}

void Executor::runCall(const RankPlan &plan, const PlannedCall &call) {
  const auto begin = std::chrono::system_clock::now();
  for (const PlannedCall::Slot &slot : call.slots) {
    const size_t allocation = static_cast<size_t>(slot.allocation);
    offsets[allocation] =
        memory.persistent()[allocation] + slot.index * memory.copyStride(allocation);
  }
  if (call.fragment.microbatch >= 0)
    writeScalar("microbatch", static_cast<double>(call.fragment.microbatch));
  messages->setCall(call.name.c_str());
  numberAllocations(plan, call);
  runFunction(call.function);
  if (context.trace)
    context.trace->span(call.name.c_str(), begin);
}

double Executor::readScalar(const std::string &name, const std::string &function) const {
  const Tensor *tensor = find(Role::Output, name, function);
  if (!tensor)
    return NAN;
  HostView host = view(*tensor, HostView::Access::Read);
  const std::byte *data = host.data();
  switch (tensor->info.dtype) {
  case DType::F64:
    return *reinterpret_cast<const double *>(data);
  case DType::F32:
    return *reinterpret_cast<const float *>(data);
  case DType::I64:
    return static_cast<double>(*reinterpret_cast<const int64_t *>(data));
  default:
    throw Fault(fmt::format("the output '{}' is {}, which the runtime cannot read", name,
                            getName(tensor->info.dtype)));
  }
}

NamedNumbers Executor::readOutputs(const std::string &prefix, const std::string &function) const {
  NamedNumbers outputs;
  for (const Tensor &tensor : emittedProgram.tensors)
    if (tensor.role == Role::Output && tensor.function == pipelines.getOutputFunction(function) &&
        tensor.name.starts_with(prefix) && tensor.info.dims.empty())
      outputs.push_back({tensor.name.substr(prefix.size()), readScalar(tensor.name, function)});
  return outputs;
}

template <typename Fn> void Executor::callWorld(const Site &site, Fn call) {
  Group &all = world().worldGroup();
  const RecordedCall recorded(context.flight, all, site);
  call(all, site);
}

std::optional<double> Executor::readMaxUnreduced(const std::string &name,
                                                 const std::string &function) {
  const Tensor *tensor = find(Role::Output, name, function);
  if (!tensor || tensor->info.sumAxes.empty())
    return std::nullopt;
  double value = readScalar(name, function);
  for (int axis : tensor->info.sumAxes)
    value *= static_cast<double>(degrees[axis]);
  callWorld({"the greatest of a metric", ""}, [&](Group &all, const Site &site) {
    all.allReduce(&value, 1, DType::F64, Reduction::Max, site);
  });
  return value;
}

void Executor::writeScalar(const std::string &name, double value) {
  for (const Tensor &tensor : emittedProgram.tensors) {
    if (tensor.role != Role::Scalar || tensor.name != name || !has(tensor))
      continue;
    // One element on every rank: `view` would compute its layout and allocate in every step.
    HostView host(*ownDevice, getData(tensor), getByteSize(tensor.info.dtype),
                  HostView::Access::Write);
    std::byte *data = host.data();
    switch (tensor.info.dtype) {
    case DType::F64:
      *reinterpret_cast<double *>(data) = value;
      break;
    case DType::F32:
      *reinterpret_cast<float *>(data) = static_cast<float>(value);
      break;
    case DType::I64:
      *reinterpret_cast<int64_t *>(data) = static_cast<int64_t>(value);
      break;
    default:
      throw Fault(fmt::format("the scalar '{}' is {}, which the runtime cannot write", name,
                              getName(tensor.info.dtype)));
    }
  }
}

void Executor::maxOverRanks(std::span<float> values) {
  if (world().size() > 1)
    callWorld({"agreement to stop", ""}, [&](Group &all, const Site &site) {
      all.allReduce(values.data(), static_cast<int64_t>(values.size()), DType::F32, Reduction::Max,
                    site);
    });
}

int Executor::maxOverRanks(int value) {
  auto number = static_cast<float>(value);
  maxOverRanks({&number, 1});
  return static_cast<int>(number);
}

bool Executor::anyRank(bool value) {
  return maxOverRanks(value ? 1 : 0) > 0;
}

int64_t Executor::broadcastFromFirst(int64_t value) {
  callWorld({"agreement on what to do", ""},
            [&](Group &all, const Site &site) { all.broadcast(&value, 1, DType::I64, 0, site); });
  return value;
}

void Executor::barrier(const char *action) {
  callWorld({action, ""}, [](Group &all, const Site &site) { all.barrier(site); });
}

} // namespace titan::rt
