#include "Collectives.h"

#include "Background.h"
#include "comm/Bytes.h"
#include "device/Device.h"

#include <algorithm>

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

Collectives::~Collectives() = default;

Group &Collectives::group(GroupRef axes) {
  for (const Known &entry : known)
    if (std::equal(entry.axes.begin(), entry.axes.end(), axes.axes, axes.axes + axes.count))
      return *entry.group;
  std::vector<int> list(axes.axes, axes.axes + axes.count);
  Group &made = device.group(world, mesh.group(world.rank(), list));
  known.push_back({list, &made});
  return made;
}

DeviceStaging &Collectives::idleStaging() {
  if (background)
    background->drain();
  return *staging;
}

void Collectives::prepare(const CollectiveCall &call) {
  reserve(call, idleStaging());
}

void Collectives::issue(const CollectiveCall &call, int channel) {
  if (channel == kAtOnce)
    return execute(call, idleStaging());
  if (call.group->size() == 1)
    return execute(call, *staging); // a copy, which needs no wait
  if (channels.size() <= static_cast<size_t>(channel))
    channels.resize(channel + 1);
  Channel &slot = channels[channel];
  if (!device.isHost()) {
    slot.group = call.group;
    if (runsUnpacked(call))
      call.group->makeNextAsync(channel);
    return execute(call, *staging);
  }
  if (!background)
    background = std::make_unique<Background>(*staging);
  slot.number = background->start(call);
}

void Collectives::finish(int channel) {
  if (channels.size() <= static_cast<size_t>(channel))
    return; // nothing was started on this channel
  Channel &slot = channels[channel];
  if (slot.group)
    slot.group->waitAsync(channel);
  else if (background)
    background->waitFor(slot.number);
}

namespace {

void issue(Context &ctx, GroupRef axes, DType type, Reduction op, CollectiveCall::Kind kind,
           const char *action, const CollectiveOperand *operands, size_t count, int channel) {
  // Reused between calls to avoid allocation.
  thread_local std::vector<CollectiveBuffer> buffers;
  buffers.clear();
  for (const CollectiveOperand *operand = operands; operand < operands + count; ++operand)
    buffers.push_back(
        {operand->in, operand->out, operand->outer, operand->d * operand->inner, operand->order});
  CollectiveCall whole{
      kind, &ctx.collectives->group(axes), type, op, {action, ctx.location}, {}, ctx.trace};
  whole.buffers.swap(buffers);
  if (ctx.preparing)
    ctx.collectives->prepare(whole);
  else
    ctx.collectives->issue(whole, channel);
  whole.buffers.swap(buffers);
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

void allGather(Context &ctx, GroupRef axes, DType type,
               std::initializer_list<CollectiveOperand> operands, int channel) {
  issue(ctx, axes, type, Reduction::Sum, CollectiveCall::AllGather, "all_gather", operands.begin(),
        operands.size(), channel);
}

void reduceScatter(Context &ctx, GroupRef axes, DType type, Reduction op,
                   std::initializer_list<CollectiveOperand> operands, int channel) {
  issue(ctx, axes, type, op, CollectiveCall::ReduceScatter, "reduce_scatter", operands.begin(),
        operands.size(), channel);
}

void allReduce(Context &ctx, GroupRef axes, DType type, Reduction op,
               std::initializer_list<CollectiveOperand> operands, int channel) {
  issue(ctx, axes, type, op, CollectiveCall::AllReduce, "all_reduce", operands.begin(),
        operands.size(), channel);
}

void finish(Context &ctx, int channel) {
  if (!ctx.preparing)
    ctx.collectives->finish(channel);
}

void allToAll(Context &ctx, GroupRef axes, DType type, const void *in, void *out, int64_t a,
              int64_t s, int64_t b, int64_t gLocal, int64_t c, bool gatherFirst) {
  Group &group = ctx.collectives->group(axes);
  Site site{"all_to_all", ctx.location};
  int64_t ranks = group.size(), chunk = s / ranks, size = sizeOf(type);
  int64_t bytes = a * chunk * b * gLocal * c * size; // from one rank to another
  DeviceStaging &staging = ctx.collectives->idleStaging();
  std::byte *sent = staging.packed(bytes * ranks);
  std::byte *received = staging.received(bytes * ranks);
  if (ctx.preparing)
    return;
  // A message keeps the order of the input's dimensions and has a chunk of `s`.
  int64_t before = gatherFirst ? a * gLocal * b : a; // dimensions outside s
  int64_t run = (gatherFirst ? chunk * c : chunk * b * gLocal * c) * size;
  for (int64_t rank = 0; rank < ranks; ++rank)
    staging.copyBlocks(at(in, rank * run), ranks * run, at(sent, rank * bytes), run, before, run);
  group.allToAll(sent, received, bytes / size, type, site);
  // Messages are concatenated along g: blocks of gLocal and the dimensions inside it.
  int64_t outside = gatherFirst ? a : a * chunk * b;
  int64_t block = (gatherFirst ? gLocal * b * chunk * c : gLocal * c) * size;
  for (int64_t rank = 0; rank < ranks; ++rank)
    staging.copyBlocks(at(received, rank * bytes), block, at(out, rank * block), ranks * block,
                       outside, block);
}

} // namespace titan::rt
