#include "CollectiveCall.h"

#include "Bytes.h"

namespace titan::rt {

namespace {

/// Whether a side of the call has a block per member. Otherwise it is a shard.
bool sendsPerMember(CollectiveCall::Kind kind) {
  return kind == CollectiveCall::ReduceScatter || kind == CollectiveCall::AllToAll;
}
bool receivesPerMember(CollectiveCall::Kind kind) {
  return kind == CollectiveCall::AllGather || kind == CollectiveCall::AllToAll;
}

/// Calls the group with one contiguous buffer of `count` elements per member.
void callWhole(const CollectiveCall &call, const void *in, void *out, int64_t count) {
  Group &group = *call.group;
  switch (call.kind) {
  case CollectiveCall::AllGather:
    return group.allGather(in, out, count, call.type, call.site);
  case CollectiveCall::ReduceScatter:
    return group.reduceScatter(in, out, count, call.type, call.op, call.site);
  case CollectiveCall::AllReduce:
    return group.allReduce(out, count, call.type, call.op, call.site);
  case CollectiveCall::AllToAll:
    return group.allToAll(in, out, count, call.type, call.site);
  case CollectiveCall::Permute:
    return group.permute(in, out, count, call.type, call.shift, call.site);
  }
}

/// Packs the buffers of a call: the elements of one member are contiguous, in the order of the
/// buffers.
class Packer {
public:
  Packer(const CollectiveCall &call, Staging &staging)
      : call(call), staging(staging), size(call.group->size()), width(sizeOf(call.type)) {
    for (const CollectiveBuffer &buffer : call.buffers)
      count += buffer.outer * buffer.block;
  }

  void reserve() {
    staging.packed(sentBytes());
    if (!isInPlace())
      staging.received(receivedBytes());
  }

  void run() {
    std::byte *sent = staging.packed(sentBytes());
    std::byte *received = isInPlace() ? sent : staging.received(receivedBytes());
    if (!hasNoTarget())
      forEachBlock(sendsPerMember(call.kind),
                   [&](const CollectiveBuffer &buffer, int64_t begin, int64_t member, int64_t n) {
                     copy(at(buffer.in, member * buffer.block * width), n * buffer.block,
                          sent + begin, buffer.block, buffer.outer, buffer.block);
                   });
    callWhole(call, sent, received, count);
    if (!hasNoSource())
      forEachBlock(receivesPerMember(call.kind),
                   [&](const CollectiveBuffer &buffer, int64_t begin, int64_t member, int64_t n) {
                     const bool isOwn = call.kind == CollectiveCall::AllToAll;
                     const int64_t rows = isOwn ? buffer.outerOut : buffer.outer;
                     const int64_t block = isOwn ? buffer.blockOut : buffer.block;
                     copy(received + begin, block, at(buffer.out, member * block * width),
                          n * block, rows, block);
                   });
  }

private:
  bool isInPlace() const { return call.kind == CollectiveCall::AllReduce; }
  bool hasNoTarget() const {
    return call.kind == CollectiveCall::Permute &&
           call.shift.target(call.group->rank(), call.group->size()) == Shift::kNobody;
  }
  bool hasNoSource() const {
    return call.kind == CollectiveCall::Permute &&
           call.shift.source(call.group->rank(), call.group->size()) == Shift::kNobody;
  }
  int64_t sentBytes() const { return count * width * (sendsPerMember(call.kind) ? size : 1); }
  int64_t receivedBytes() const {
    return count * width * (receivesPerMember(call.kind) ? size : 1);
  }
  /// Calls `visit` with each buffer, its byte offset in the packed data, the member of the block
  /// and the number of members: 0 and 1 for a shard.
  template <typename Visit> void forEachBlock(bool isPerMember, Visit visit) const {
    const int64_t members = isPerMember ? size : 1;
    for (int64_t member = 0; member < members; ++member) {
      int64_t begin = member * count * width;
      for (const CollectiveBuffer &buffer : call.buffers) {
        visit(buffer, begin, member, members);
        begin += buffer.outer * buffer.block * width;
      }
    }
  }
  /// Copies `rows` blocks of `block` elements; the strides are in elements.
  void copy(const std::byte *from, int64_t fromStride, std::byte *to, int64_t toStride,
            int64_t rows, int64_t block) {
    staging.copyBlocks(from, fromStride * width, to, toStride * width, rows, block * width);
  }

  const CollectiveCall &call;
  Staging &staging;
  int64_t size, width, count = 0;
};

/// Whether the call has a single buffer that the group's basic collectives support.
bool isOneContiguousBuffer(const CollectiveCall &call) {
  if (call.buffers.size() != 1)
    return false;
  const CollectiveBuffer &buffer = call.buffers[0];
  const bool isOneRow =
      buffer.outer == 1 && (call.kind != CollectiveCall::AllToAll || buffer.outerOut == 1);
  return isOneRow || call.group->size() == 1;
}

/// Whether the group moves the buffers of the call without packing.
bool isUnpacked(const CollectiveCall &call) {
  return call.kind != CollectiveCall::AllToAll && call.group->supportsUnpacked(call.buffers);
}

} // namespace

bool needsPacking(const CollectiveCall &call) {
  return !isOneContiguousBuffer(call) && !isUnpacked(call);
}

void reserve(const CollectiveCall &call, Staging &staging) {
  if (needsPacking(call))
    Packer(call, staging).reserve();
}

void execute(const CollectiveCall &call, Staging &staging) {
  Group &group = *call.group;
  const std::vector<CollectiveBuffer> &buffers = call.buffers;
  if (isOneContiguousBuffer(call))
    return callWhole(call, buffers[0].in, buffers[0].out, buffers[0].outer * buffers[0].block);
  if (needsPacking(call))
    return Packer(call, staging).run();
  switch (call.kind) {
  case CollectiveCall::AllGather:
    return group.allGather(buffers, call.type, call.site);
  case CollectiveCall::ReduceScatter:
    return group.reduceScatter(buffers, call.type, call.op, call.site);
  case CollectiveCall::AllReduce:
    return group.allReduce(buffers, call.type, call.op, call.site);
  case CollectiveCall::Permute:
    return group.permute(buffers, call.type, call.shift, call.site);
  case CollectiveCall::AllToAll:
    return; // always packed
  }
}

} // namespace titan::rt
