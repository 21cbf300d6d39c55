#include "Collectives.h"

#include "LaneThread.h"
#include "Traffic.h"
#include "base/Error.h"
#include "comm/HostGroup.h"
#include "device/Device.h"
#include "flight/FlightRecorder.h"

#include <algorithm>
#include <chrono>

namespace titan::rt {

/// Staging in the device's memory.
class DeviceStaging final : public Staging {
public:
  explicit DeviceStaging(Device &device) : device(device) {}
  ~DeviceStaging() override {
    for (Area *area : {&first, &second})
      if (area->data)
        device.release(area->data, area->bytes);
  }

  std::byte *packed(int64_t bytes) override { return grow(first, bytes); }
  std::byte *received(int64_t bytes) override { return grow(second, bytes); }
  void copyBlocks(const std::byte *from, int64_t fromStride, std::byte *to, int64_t toStride,
                  int64_t rows, int64_t bytes) override {
    device.copyBlocks(from, fromStride, to, toStride, rows, bytes);
  }
  int64_t bytes() const { return first.bytes + second.bytes; }

private:
  struct Area {
    std::byte *data = nullptr;
    int64_t bytes = 0;
  };

  std::byte *grow(Area &area, int64_t bytes) {
    if (area.bytes < bytes) {
      if (area.data)
        device.release(area.data, area.bytes);
      area = {device.allocate(bytes), bytes};
    }
    return area.data;
  }

  Device &device;
  Area first, second;
};

Collectives::Collectives(World &world, Mesh mesh, Device &device)
    : world(world), mesh(std::move(mesh)), device(device),
      staging(std::make_unique<DeviceStaging>(device)) {}

Collectives::~Collectives() {
  for (const Lane &lane : lanes)
    if (!lane.thread->isIdle())
      lane.group->leave();
}

Group &Collectives::getGroup(const std::vector<int> &ranks) {
  return device.group(world, ranks);
}

Group &Collectives::group(GroupRef axes) {
  for (const AxesGroup &entry : axesGroups)
    if (std::equal(entry.axes.begin(), entry.axes.end(), axes.axes, axes.axes + axes.count))
      return *entry.group;
  std::vector<int> list(axes.axes, axes.axes + axes.count);
  Group &made = getGroup(mesh.group(world.rank(), list));
  axesGroups.push_back({list, &made});
  return made;
}

/// Groups are connected in the order of their senders along the axes. Of the groups that are not
/// connected yet, the one with the first sender is the next one of both its members.
void Collectives::connect(const std::vector<MessageRoute> &routes) {
  for (const MessageRoute &route : routes) {
    const std::vector<int> ranks = mesh.group(world.rank(), route.axes);
    const int size = static_cast<int>(ranks.size());
    const int position = mesh.indexInGroup(world.rank(), route.axes);
    const Shift shift{route.offset, /*isCyclic=*/false};
    const int target = shift.target(position, size), source = shift.source(position, size);
    Link link{route};
    auto connectSource = [&] {
      if (source != Shift::kNobody)
        link.fromSource = &getGroup({ranks[source], ranks[position]});
    };
    if (source < position)
      connectSource();
    if (target != Shift::kNobody)
      link.toTarget = &getGroup({ranks[position], ranks[target]});
    if (source > position)
      connectSource();
    links.push_back(std::move(link));
  }
}

Group *Collectives::link(GroupRef axes, int offset, bool isSender) {
  for (const Link &link : links)
    if (link.route.offset == offset && std::equal(link.route.axes.begin(), link.route.axes.end(),
                                                  axes.axes, axes.axes + axes.count))
      return isSender ? link.toTarget : link.fromSource;
  throw Fault("the program uses a message route that its table does not list");
}

LaneThread *Collectives::findLane(const Group &group) const {
  for (const Lane &lane : lanes)
    if (lane.group == &group)
      return lane.thread.get();
  return nullptr;
}

LaneThread &Collectives::getOrCreateLane(Group &group) {
  if (LaneThread *lane = findLane(group))
    return *lane;
  auto packs = std::make_unique<DeviceStaging>(device);
  auto thread = std::make_unique<LaneThread>(*packs, static_cast<int>(lanes.size()));
  lanes.push_back({&group, std::move(packs), std::move(thread)});
  return *lanes.back().thread;
}

int64_t Collectives::packingBytes() const {
  int64_t bytes = staging->bytes();
  for (const Lane &lane : lanes)
    bytes += lane.staging->bytes();
  return bytes;
}

void Collectives::prepare(const CollectiveCall &call) {
  reserve(call, *staging);
}

/// Executes the call on the program's own thread.
static void executeHere(const CollectiveCall &call, Staging &staging) {
  const RecordedCall recorded(call.flight, *call.group, call.site);
  execute(call, staging);
}

/// Adds the time until its destruction to a sum.
class AddedTime {
public:
  explicit AddedTime(double &sum) : sum(sum), begin(std::chrono::steady_clock::now()) {}
  ~AddedTime() {
    sum += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  AddedTime(const AddedTime &) = delete;
  AddedTime &operator=(const AddedTime &) = delete;

private:
  double &sum;
  std::chrono::steady_clock::time_point begin;
};

void Collectives::issue(const CollectiveCall &call, int channel) {
  if (channel == kAtOnce) {
    const AddedTime time(waited);
    if (LaneThread *lane = findLane(*call.group))
      lane->drain();
    return executeHere(call, *staging);
  }
  if (call.group->size() == 1)
    return execute(call, *staging); // a copy, which needs no wait
  if (channels.size() <= static_cast<size_t>(channel))
    channels.resize(channel + 1);
  Channel &slot = channels[channel];
  slot = {};
  if (!device.isHost()) {
    slot.group = call.group;
    if (!needsPacking(call) && countElements(call.buffers) > 0)
      call.group->makeNextAsync(channel);
    return executeHere(call, *staging);
  }
  slot.lane = &getOrCreateLane(*call.group);
  slot.number = slot.lane->start(call);
}

void Collectives::finish(int channel) {
  if (channels.size() <= static_cast<size_t>(channel))
    return; // nothing was started on this channel
  Channel &slot = channels[channel];
  if (slot.group) {
    slot.group->waitAsync(channel);
  } else if (slot.lane) {
    const AddedTime time(waited);
    slot.lane->waitFor(slot.number);
  }
}

namespace {

/// Issues a call in `group`, which is over `axes`, or prepares for it. `fill` sets its buffers and
/// parameters. The vector of buffers is reused between calls to avoid allocation.
template <typename Fill>
void issue(Context &ctx, GroupRef axes, Group &group, DType type, CollectiveCall::Kind kind,
           const char *action, int channel, Fill fill) {
  thread_local std::vector<CollectiveBuffer> buffers;
  buffers.clear();
  CollectiveCall call{kind, &group, type,      Reduction::Sum, {action, ctx.location},
                      {},   {},     ctx.trace, ctx.flight};
  call.buffers.swap(buffers);
  fill(call);
  if (ctx.preparing) {
    ctx.collectives->prepare(call);
  } else {
    if (Traffic *traffic = ctx.collectives->getTraffic())
      traffic->add(call, axes);
    ctx.collectives->issue(call, channel);
  }
  call.buffers.swap(buffers);
}

using Operands = std::initializer_list<CollectiveOperand>;
/// Adds the buffers of a collective along one dimension.
void addOperands(CollectiveCall &call, Operands operands) {
  for (const CollectiveOperand &operand : operands) {
    call.buffers.push_back({operand.in, operand.out, operand.outer, operand.d * operand.inner});
    call.buffers.back().order = operand.order;
  }
}

/// A message from or to this rank, if it has a partner. If the partner never calls, the transport
/// reports the error.
void issueMessage(Context &ctx, GroupRef axes, DType type, int offset, bool isSender,
                  const void *in, void *out, int64_t elements, int channel) {
  Group *group = ctx.collectives->link(axes, offset, isSender);
  if (!group)
    return;
  issue(ctx, axes, *group, type, CollectiveCall::Permute, isSender ? "send" : "receive", channel,
        [&](CollectiveCall &call) {
          call.shift = {1, /*isCyclic=*/false};
          call.buffers.push_back({in, out, 1, elements});
        });
}

} // namespace

void allGather(Context &ctx, GroupRef axes, DType type, const void *in, void *out, int64_t outer,
               int64_t d, int64_t inner) {
  allGather(ctx, axes, type, {{in, out, outer, d, inner}});
}

void reduceScatter(Context &ctx, GroupRef axes, DType type, Reduction op, const void *in, void *out,
                   int64_t outer, int64_t d, int64_t inner) {
  reduceScatter(ctx, axes, type, op, {{in, out, outer, d, inner}});
}

void allReduce(Context &ctx, GroupRef axes, DType type, Reduction op, void *data,
               int64_t elements) {
  allReduce(ctx, axes, type, op, {{data, data, 1, elements, 1}});
}

void allToAll(Context &ctx, GroupRef axes, DType type, const void *in, void *out, int64_t a,
              int64_t s, int64_t b, int64_t gLocal, int64_t c, bool gatherFirst) {
  allToAll(ctx, axes, type, {{in, out, a, s, b, gLocal, c, gatherFirst}});
}

void allGather(Context &ctx, GroupRef axes, DType type, Operands operands, int channel) {
  issue(ctx, axes, ctx.collectives->group(axes), type, CollectiveCall::AllGather, "all_gather",
        channel, [&](CollectiveCall &call) { addOperands(call, operands); });
}

void reduceScatter(Context &ctx, GroupRef axes, DType type, Reduction op, Operands operands,
                   int channel) {
  issue(ctx, axes, ctx.collectives->group(axes), type, CollectiveCall::ReduceScatter,
        "reduce_scatter", channel, [&](CollectiveCall &call) {
          call.op = op;
          addOperands(call, operands);
        });
}

void allReduce(Context &ctx, GroupRef axes, DType type, Reduction op, Operands operands,
               int channel) {
  issue(ctx, axes, ctx.collectives->group(axes), type, CollectiveCall::AllReduce, "all_reduce",
        channel, [&](CollectiveCall &call) {
          call.op = op;
          addOperands(call, operands);
        });
}

void allToAll(Context &ctx, GroupRef axes, DType type,
              std::initializer_list<AllToAllOperand> operands, int channel) {
  Group &group = ctx.collectives->group(axes);
  issue(ctx, axes, group, type, CollectiveCall::AllToAll, "all_to_all", channel,
        [&](CollectiveCall &call) {
          for (const auto &[in, out, a, s, b, gLocal, c, gatherFirst] : operands) {
            // A message keeps the order of the input's dimensions and has a chunk of `s`. Messages
            // are concatenated along g: blocks of gLocal and the dimensions inside it.
            const int64_t chunk = s / group.size();
            call.buffers.push_back(gatherFirst
                                       ? CollectiveBuffer{in, out, a * gLocal * b, chunk * c, a,
                                                          gLocal * b * chunk * c}
                                       : CollectiveBuffer{in, out, a, chunk * b * gLocal * c,
                                                          a * chunk * b, gLocal * c});
          }
        });
}

void permute(Context &ctx, GroupRef axes, DType type, int offset, Operands operands, int channel) {
  issue(ctx, axes, ctx.collectives->group(axes), type, CollectiveCall::Permute, "permute", channel,
        [&](CollectiveCall &call) {
          call.shift = {offset, /*isCyclic=*/true};
          addOperands(call, operands);
        });
}

void send(Context &ctx, GroupRef axes, DType type, int offset, const void *data, int64_t elements,
          int channel) {
  issueMessage(ctx, axes, type, offset, /*isSender=*/true, data, nullptr, elements, channel);
}

void receive(Context &ctx, GroupRef axes, DType type, int offset, void *data, int64_t elements,
             int channel) {
  issueMessage(ctx, axes, type, offset, /*isSender=*/false, nullptr, data, elements, channel);
}

void finish(Context &ctx, int channel) {
  if (!ctx.preparing)
    ctx.collectives->finish(channel);
}

} // namespace titan::rt
