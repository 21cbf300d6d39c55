#include "titan/runtime/collectives.h"

#include "device/Device.h"

#include <algorithm>

namespace titan::rt {

Group &Collectives::group(GroupRef axes) {
  for (const Known &entry : known)
    if (std::equal(entry.axes.begin(), entry.axes.end(), axes.axes, axes.axes + axes.count))
      return *entry.group;
  std::vector<int> list(axes.axes, axes.axes + axes.count);
  Group &made = device.group(world, mesh.group(world.rank(), list));
  known.push_back({list, &made});
  return made;
}

Collectives::~Collectives() {
  for (Area *area : {&first, &second})
    if (area->data)
      device.release(area->data, area->bytes);
}

std::byte *Collectives::grow(Area &area, int64_t bytes) {
  if (area.bytes < bytes) {
    if (area.data)
      device.release(area.data, area.bytes);
    area = {device.allocate(bytes), bytes};
  }
  return area.data;
}

void Collectives::copyBlocks(const std::byte *from, int64_t fromStride, std::byte *to,
                             int64_t toStride, int64_t rows, int64_t bytes) {
  device.copyBlocks(from, fromStride, to, toStride, rows, bytes);
}

namespace {

const std::byte *at(const void *data, int64_t bytes) {
  return static_cast<const std::byte *>(data) + bytes;
}
std::byte *at(void *data, int64_t bytes) {
  return static_cast<std::byte *>(data) + bytes;
}

} // namespace

void allGather(Context &ctx, GroupRef axes, DType type, const void *in, void *out, int64_t outer,
               int64_t d, int64_t inner) {
  Group &group = ctx.collectives->group(axes);
  Site site{"all_gather", ctx.place};
  int64_t count = outer * d * inner;
  if (outer == 1 || group.size() == 1)
    return group.allGather(in, out, count, type, site);
  int64_t block = d * inner * sizeOf(type), bytes = outer * block;
  std::byte *chunks = ctx.collectives->received(bytes * group.size());
  group.allGather(in, chunks, count, type, site);
  for (int rank = 0; rank < group.size(); ++rank)
    ctx.collectives->copyBlocks(at(chunks, rank * bytes), block, at(out, rank * block),
                                group.size() * block, outer, block);
}

void reduceScatter(Context &ctx, GroupRef axes, DType type, Reduction op, const void *in, void *out,
                   int64_t outer, int64_t d, int64_t inner) {
  Group &group = ctx.collectives->group(axes);
  Site site{"reduce_scatter", ctx.place};
  int64_t count = outer * d * inner;
  if (outer == 1 || group.size() == 1)
    return group.reduceScatter(in, out, count, type, op, site);
  int64_t block = d * inner * sizeOf(type), bytes = outer * block;
  std::byte *chunks = ctx.collectives->packed(bytes * group.size());
  for (int rank = 0; rank < group.size(); ++rank)
    ctx.collectives->copyBlocks(at(in, rank * block), group.size() * block,
                                at(chunks, rank * bytes), block, outer, block);
  group.reduceScatter(chunks, out, count, type, op, site);
}

void allReduce(Context &ctx, GroupRef axes, DType type, Reduction op, void *data,
               int64_t elements) {
  ctx.collectives->group(axes).allReduce(data, elements, type, op, {"all_reduce", ctx.place});
}

void allToAll(Context &ctx, GroupRef axes, DType type, const void *in, void *out, int64_t a,
              int64_t s, int64_t b, int64_t gLocal, int64_t c, bool gatherFirst) {
  Group &group = ctx.collectives->group(axes);
  Site site{"all_to_all", ctx.place};
  int64_t ranks = group.size(), part = s / ranks, size = sizeOf(type);
  int64_t bytes = a * part * b * gLocal * c * size; // what one rank sends to another
  std::byte *sent = ctx.collectives->packed(bytes * ranks);
  std::byte *received = ctx.collectives->received(bytes * ranks);
  // A chunk keeps the order of the input's dimensions; only `s` is cut.
  int64_t before = gatherFirst ? a * gLocal * b : a; // dimensions outside s
  int64_t run = (gatherFirst ? part * c : part * b * gLocal * c) * size;
  for (int64_t rank = 0; rank < ranks; ++rank)
    ctx.collectives->copyBlocks(at(in, rank * run), ranks * run, at(sent, rank * bytes), run,
                                before, run);
  group.allToAll(sent, received, bytes / size, type, site);
  // Chunks are joined along g: from each one, blocks of gLocal and what lies inside it.
  int64_t outside = gatherFirst ? a : a * part * b;
  int64_t block = (gatherFirst ? gLocal * b * part * c : gLocal * c) * size;
  for (int64_t rank = 0; rank < ranks; ++rank)
    ctx.collectives->copyBlocks(at(received, rank * bytes), block, at(out, rank * block),
                                ranks * block, outside, block);
}

} // namespace titan::rt
