#include "CollectiveCall.h"

#include "Bytes.h"

#include <algorithm>

namespace titan::rt {

namespace {

/// Whether the input (output) of the call has one block per member; else it is one shard.
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
      : call(call), staging(staging), size(call.group->size()), width(getByteSize(call.type)) {
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
      forEachSegment(Side::In, [&](const CollectiveBuffer &buffer, const Segment &segment) {
        copy(at(buffer.in, segment.begin), segment.stride, sent + segment.packedBegin,
             segment.packedStride, segment);
      });
    callWhole(call, sent, received, count);
    if (!hasNoSource())
      forEachSegment(Side::Out, [&](const CollectiveBuffer &buffer, const Segment &segment) {
        copy(received + segment.packedBegin, segment.packedStride, at(buffer.out, segment.begin),
             segment.stride, segment);
      });
  }

private:
  enum class Side : uint8_t { In, Out };
  /// The rows of a buffer, and the elements of one member in each row.
  struct Rows {
    int64_t count, block;
  };
  Rows getRows(const CollectiveBuffer &buffer, Side side) const {
    if (side == Side::Out && call.kind == CollectiveCall::AllToAll)
      return {buffer.outerOut, buffer.blockOut};
    return {buffer.outer, buffer.block};
  }
  /// The elements of a member that are contiguous in each row, in the buffer and packed. Begins are
  /// in bytes, strides in elements.
  struct Segment {
    int64_t rows, length, begin, stride, packedBegin, packedStride;
  };

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
  /// Calls `visit` with the segments of one side: of all members' blocks, or of a shard.
  template <typename Visit> void forEachSegment(Side side, Visit visit) const {
    const bool isPerMember =
        side == Side::In ? sendsPerMember(call.kind) : receivesPerMember(call.kind);
    const int64_t members = isPerMember ? size : 1;
    for (int64_t member = 0; member < members; ++member) {
      int64_t packed = member * count * width;
      for (const CollectiveBuffer &buffer : call.buffers) {
        const Rows rows = getRows(buffer, side);
        const int64_t row = members * rows.block;
        const DimShard shard = getShard(row, {{members, member, buffer.order}});
        for (int k = 0; k < shard.intervalCount(); ++k) {
          const IndexInterval interval = shard.interval(k);
          const int64_t before = k == 0 ? 0 : shard.split;
          visit(buffer, Segment{rows.count, interval.length, interval.start * width, row,
                                packed + before * width, rows.block});
        }
        packed += rows.count * rows.block * width;
      }
    }
  }
  /// Copies the rows of a segment; the strides are in elements.
  void copy(const std::byte *from, int64_t fromStride, std::byte *to, int64_t toStride,
            const Segment &segment) {
    staging.copyBlocks(from, fromStride * width, to, toStride * width, segment.rows,
                       segment.length * width);
  }

  const CollectiveCall &call;
  Staging &staging;
  int64_t size, width, count = 0;
};

/// Whether gathered rows have the members' blocks one after the other.
bool isInBlockOrder(const CollectiveCall &call) {
  return call.group->size() == 1 ||
         std::all_of(call.buffers.begin(), call.buffers.end(), [](const CollectiveBuffer &buffer) {
           return buffer.order == ShardOrder::Block;
         });
}

/// Whether the call has a single buffer that the group's basic collectives support.
bool isOneContiguousBuffer(const CollectiveCall &call) {
  if (call.buffers.size() != 1 || !isInBlockOrder(call))
    return false;
  const CollectiveBuffer &buffer = call.buffers[0];
  const bool isOneRow =
      buffer.outer == 1 && (call.kind != CollectiveCall::AllToAll || buffer.outerOut == 1);
  return isOneRow || call.group->size() == 1;
}

/// Whether the group moves the buffers of the call without packing.
bool isUnpacked(const CollectiveCall &call) {
  return call.kind != CollectiveCall::AllToAll && isInBlockOrder(call) &&
         call.group->supportsUnpacked(call.buffers);
}

} // namespace

int64_t countBytesSent(const CollectiveCall &call) {
  const int64_t size = call.group->size(), width = getByteSize(call.type);
  const bool isPermute = call.kind == CollectiveCall::Permute;
  const int target = isPermute ? call.shift.target(call.group->rank(), call.group->size()) : 0;
  if (size == 1 || target == Shift::kNobody)
    return 0;
  int64_t sent = 0;
  for (const CollectiveBuffer &buffer : call.buffers) {
    const int64_t own = buffer.outer * buffer.block * width; // of one member
    if (isPermute)
      sent += own;
    else if (call.kind == CollectiveCall::AllReduce)
      sent += 2 * own * (size - 1) / size;
    else
      sent += own * (size - 1);
  }
  return sent;
}

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
