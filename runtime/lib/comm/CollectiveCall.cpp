#include "CollectiveCall.h"

#include "Bytes.h"

#include <algorithm>

namespace titan::rt {

namespace {

/// Packs the buffers of a call: the shards of one member are contiguous, in the order of the
/// buffers.
class Packer {
public:
  Packer(const CollectiveCall &call, Staging &staging)
      : call(call), staging(staging), size(call.group->size()), width(sizeOf(call.type)) {
    for (const CollectiveBuffer &buffer : call.buffers)
      count += buffer.outer * buffer.block;
  }

  /// Bytes of the packed input and of the packed output.
  int64_t sentBytes() const {
    return count * width * (call.kind == CollectiveCall::ReduceScatter ? size : 1);
  }
  int64_t receivedBytes() const {
    return count * width * (call.kind == CollectiveCall::AllGather ? size : 1);
  }
  void reserve() {
    staging.packed(sentBytes());
    if (call.kind != CollectiveCall::AllReduce)
      staging.received(receivedBytes());
  }

  void run() {
    Group &group = *call.group;
    switch (call.kind) {
    case CollectiveCall::AllGather: {
      std::byte *sent = staging.packed(sentBytes());
      std::byte *received = staging.received(receivedBytes());
      forEach([&](const CollectiveBuffer &buffer, int64_t begin) {
        copy(at(buffer.in, 0), buffer.block, sent + begin, buffer.block, buffer);
      });
      group.allGather(sent, received, count, call.type, call.site);
      forEachMember([&](const CollectiveBuffer &buffer, int64_t begin, int64_t member) {
        forEachInterval(buffer, member, [&](int64_t local, IndexInterval global) {
          copy(received + member * count * width + begin + local * width, buffer.block,
               at(buffer.out, global.start * width), size * buffer.block, buffer.outer,
               global.length);
        });
      });
      return;
    }
    case CollectiveCall::ReduceScatter: {
      std::byte *sent = staging.packed(sentBytes());
      std::byte *received = staging.received(receivedBytes());
      forEachMember([&](const CollectiveBuffer &buffer, int64_t begin, int64_t member) {
        forEachInterval(buffer, member, [&](int64_t local, IndexInterval global) {
          copy(at(buffer.in, global.start * width), size * buffer.block,
               sent + member * count * width + begin + local * width, buffer.block, buffer.outer,
               global.length);
        });
      });
      group.reduceScatter(sent, received, count, call.type, call.op, call.site);
      forEach([&](const CollectiveBuffer &buffer, int64_t begin) {
        copy(received + begin, buffer.block, at(buffer.out, 0), buffer.block, buffer);
      });
      return;
    }
    case CollectiveCall::AllReduce: {
      std::byte *data = staging.packed(sentBytes());
      forEach([&](const CollectiveBuffer &buffer, int64_t begin) {
        copy(at(buffer.in, 0), buffer.block, data + begin, buffer.block, buffer);
      });
      group.allReduce(data, count, call.type, call.op, call.site);
      forEach([&](const CollectiveBuffer &buffer, int64_t begin) {
        copy(data + begin, buffer.block, at(buffer.out, 0), buffer.block, buffer);
      });
    }
    }
  }

private:
  /// Calls `visit` with each buffer and its byte offset within one member's packed data.
  template <typename Visit> void forEach(Visit visit) const {
    int64_t begin = 0;
    for (const CollectiveBuffer &buffer : call.buffers) {
      visit(buffer, begin);
      begin += buffer.outer * buffer.block * width;
    }
  }
  template <typename Visit> void forEachMember(Visit visit) const {
    for (int64_t member = 0; member < size; ++member)
      forEach([&](const CollectiveBuffer &buffer, int64_t begin) { visit(buffer, begin, member); });
  }
  /// Calls `visit` with each part of a member's block: its first element in the block, and its
  /// elements in a row of all members' blocks.
  template <typename Visit>
  void forEachInterval(const CollectiveBuffer &buffer, int64_t member, Visit visit) const {
    const DimShard shard = shardOf(size * buffer.block, {{size, member, buffer.order}});
    for (int k = 0; k < shard.intervalCount(); ++k)
      visit(k == 0 ? 0 : shard.split, shard.interval(k));
  }
  /// Copies `rows` rows of `elements`, `fromStride` and `toStride` elements apart.
  void copy(const std::byte *from, int64_t fromStride, std::byte *to, int64_t toStride,
            int64_t rows, int64_t elements) {
    staging.copyBlocks(from, fromStride * width, to, toStride * width, rows, elements * width);
  }
  void copy(const std::byte *from, int64_t fromStride, std::byte *to, int64_t toStride,
            const CollectiveBuffer &buffer) {
    copy(from, fromStride, to, toStride, buffer.outer, buffer.block);
  }

  const CollectiveCall &call;
  Staging &staging;
  int64_t size, width, count = 0;
};

/// Whether the result is the members' blocks one after the other.
bool isInBlockOrder(const CollectiveCall &call) {
  return call.group->size() == 1 ||
         std::all_of(call.buffers.begin(), call.buffers.end(), [](const CollectiveBuffer &buffer) {
           return buffer.order == ShardOrder::Block;
         });
}

/// Whether the call has a single buffer that the group's basic collectives support.
bool isOneContiguousBuffer(const CollectiveCall &call) {
  return call.buffers.size() == 1 && isInBlockOrder(call) &&
         (call.buffers[0].outer == 1 || call.group->size() == 1);
}

} // namespace

bool runsUnpacked(const CollectiveCall &call) {
  return isInBlockOrder(call) && call.group->supportsUnpacked(call.buffers);
}

void reserve(const CollectiveCall &call, Staging &staging) {
  if (!isOneContiguousBuffer(call) && !runsUnpacked(call))
    Packer(call, staging).reserve();
}

void execute(const CollectiveCall &call, Staging &staging) {
  Group &group = *call.group;
  const std::vector<CollectiveBuffer> &buffers = call.buffers;
  bool isOne = isOneContiguousBuffer(call);
  int64_t count = isOne ? buffers[0].outer * buffers[0].block : 0;
  bool isUnpacked = !isOne && runsUnpacked(call);
  if (!isOne && !isUnpacked)
    return Packer(call, staging).run();
  switch (call.kind) {
  case CollectiveCall::AllGather:
    return isUnpacked ? group.allGather(buffers, call.type, call.site)
                      : group.allGather(buffers[0].in, buffers[0].out, count, call.type, call.site);
  case CollectiveCall::ReduceScatter:
    return isUnpacked ? group.reduceScatter(buffers, call.type, call.op, call.site)
                      : group.reduceScatter(buffers[0].in, buffers[0].out, count, call.type,
                                            call.op, call.site);
  case CollectiveCall::AllReduce:
    return isUnpacked ? group.allReduce(buffers, call.type, call.op, call.site)
                      : group.allReduce(buffers[0].out, count, call.type, call.op, call.site);
  }
}

} // namespace titan::rt
