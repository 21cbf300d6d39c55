#include "CollectiveCall.h"

#include "Bytes.h"

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
        copy(received + member * count * width + begin, buffer.block,
             at(buffer.out, member * buffer.block * width), size * buffer.block, buffer);
      });
      return;
    }
    case CollectiveCall::ReduceScatter: {
      std::byte *sent = staging.packed(sentBytes());
      std::byte *received = staging.received(receivedBytes());
      forEachMember([&](const CollectiveBuffer &buffer, int64_t begin, int64_t member) {
        copy(at(buffer.in, member * buffer.block * width), size * buffer.block,
             sent + member * count * width + begin, buffer.block, buffer);
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
  /// Copies the rows of a buffer, `fromStride` and `toStride` elements apart.
  void copy(const std::byte *from, int64_t fromStride, std::byte *to, int64_t toStride,
            const CollectiveBuffer &buffer) {
    staging.copyBlocks(from, fromStride * width, to, toStride * width, buffer.outer,
                       buffer.block * width);
  }

  const CollectiveCall &call;
  Staging &staging;
  int64_t size, width, count = 0;
};

/// Whether the call has a single buffer that the group's basic collectives support.
bool isOneContiguousBuffer(const CollectiveCall &call) {
  return call.buffers.size() == 1 && (call.buffers[0].outer == 1 || call.group->size() == 1);
}

} // namespace

void reserve(const CollectiveCall &call, Staging &staging) {
  if (!isOneContiguousBuffer(call) && !call.group->supportsUnpacked(call.buffers))
    Packer(call, staging).reserve();
}

void execute(const CollectiveCall &call, Staging &staging) {
  Group &group = *call.group;
  const std::vector<CollectiveBuffer> &buffers = call.buffers;
  bool isOne = isOneContiguousBuffer(call);
  int64_t count = isOne ? buffers[0].outer * buffers[0].block : 0;
  bool isUnpacked = !isOne && group.supportsUnpacked(buffers);
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
