#include "Exchange.h"

#include "Bytes.h"

namespace titan::rt {

namespace {

/// The shares one after the other: what a member contributes, or gets.
class Packer {
public:
  Packer(const Exchange &exchange, Staging &staging)
      : exchange(exchange), staging(staging), size(exchange.group->size()),
        width(sizeOf(exchange.type)) {
    for (const Share &share : exchange.shares)
      count += share.outer * share.block;
  }

  /// Of one member's side of a gathering or a reduction, and of the other side.
  int64_t sentBytes() const {
    return count * width * (exchange.kind == Exchange::ReduceScatter ? size : 1);
  }
  int64_t receivedBytes() const {
    return count * width * (exchange.kind == Exchange::AllGather ? size : 1);
  }
  void reserve() {
    staging.packed(sentBytes());
    if (exchange.kind != Exchange::AllReduce)
      staging.received(receivedBytes());
  }

  void run() {
    Group &group = *exchange.group;
    switch (exchange.kind) {
    case Exchange::AllGather: {
      std::byte *sent = staging.packed(sentBytes());
      std::byte *received = staging.received(receivedBytes());
      forEach([&](const Share &share, int64_t begin) {
        copy(at(share.in, 0), share.block, sent + begin, share.block, share);
      });
      group.allGather(sent, received, count, exchange.type, exchange.site);
      forEachMember([&](const Share &share, int64_t begin, int64_t member) {
        copy(received + member * count * width + begin, share.block,
             at(share.out, member * share.block * width), size * share.block, share);
      });
      return;
    }
    case Exchange::ReduceScatter: {
      std::byte *sent = staging.packed(sentBytes());
      std::byte *received = staging.received(receivedBytes());
      forEachMember([&](const Share &share, int64_t begin, int64_t member) {
        copy(at(share.in, member * share.block * width), size * share.block,
             sent + member * count * width + begin, share.block, share);
      });
      group.reduceScatter(sent, received, count, exchange.type, exchange.op, exchange.site);
      forEach([&](const Share &share, int64_t begin) {
        copy(received + begin, share.block, at(share.out, 0), share.block, share);
      });
      return;
    }
    case Exchange::AllReduce: {
      std::byte *data = staging.packed(sentBytes());
      forEach([&](const Share &share, int64_t begin) {
        copy(at(share.in, 0), share.block, data + begin, share.block, share);
      });
      group.allReduce(data, count, exchange.type, exchange.op, exchange.site);
      forEach([&](const Share &share, int64_t begin) {
        copy(data + begin, share.block, at(share.out, 0), share.block, share);
      });
    }
    }
  }

private:
  /// Calls `visit` with each share and the byte at which it begins among those of its member.
  template <typename Visit> void forEach(Visit visit) const {
    int64_t begin = 0;
    for (const Share &share : exchange.shares) {
      visit(share, begin);
      begin += share.outer * share.block * width;
    }
  }
  template <typename Visit> void forEachMember(Visit visit) const {
    for (int64_t member = 0; member < size; ++member)
      forEach([&](const Share &share, int64_t begin) { visit(share, begin, member); });
  }
  /// The rows of a share, `fromStride` and `toStride` elements apart.
  void copy(const std::byte *from, int64_t fromStride, std::byte *to, int64_t toStride,
            const Share &share) {
    staging.copyBlocks(from, fromStride * width, to, toStride * width, share.outer,
                       share.block * width);
  }

  const Exchange &exchange;
  Staging &staging;
  int64_t size, width, count = 0;
};

/// A single value that lies as the group's plain collectives want it.
bool isOneStretch(const Exchange &exchange) {
  return exchange.shares.size() == 1 &&
         (exchange.shares[0].outer == 1 || exchange.group->size() == 1);
}

} // namespace

void reserve(const Exchange &exchange, Staging &staging) {
  if (!isOneStretch(exchange) && !exchange.group->takes(exchange.shares))
    Packer(exchange, staging).reserve();
}

void carryOut(const Exchange &exchange, Staging &staging) {
  Group &group = *exchange.group;
  const std::vector<Share> &shares = exchange.shares;
  bool isOne = isOneStretch(exchange);
  int64_t count = isOne ? shares[0].outer * shares[0].block : 0;
  bool takes = !isOne && group.takes(shares);
  if (!isOne && !takes)
    return Packer(exchange, staging).run();
  switch (exchange.kind) {
  case Exchange::AllGather:
    return takes
               ? group.allGather(shares, exchange.type, exchange.site)
               : group.allGather(shares[0].in, shares[0].out, count, exchange.type, exchange.site);
  case Exchange::ReduceScatter:
    return takes ? group.reduceScatter(shares, exchange.type, exchange.op, exchange.site)
                 : group.reduceScatter(shares[0].in, shares[0].out, count, exchange.type,
                                       exchange.op, exchange.site);
  case Exchange::AllReduce:
    return takes ? group.allReduce(shares, exchange.type, exchange.op, exchange.site)
                 : group.allReduce(shares[0].out, count, exchange.type, exchange.op, exchange.site);
  }
}

} // namespace titan::rt
