#include "PeerGroup.h"

#include "Bytes.h"
#include "Combine.h"

#include "titan/runtime/alignment.h"

#include <algorithm>
#include <cstring>

namespace titan::rt {

namespace {

/// All-reductions of at most this size are sent whole to every member, which saves one round trip.
constexpr int64_t kWholeBytes = 4096;

/// Tensors above kLargeBytes are sent alone. Smaller ones are coalesced up to kCoalescedBytes,
/// below which a message costs more than the copies that it saves (bench/buckets).
constexpr int64_t kLargeBytes = 512 << 10, kCoalescedBytes = 2 << 20;

constexpr int64_t alignUp(int64_t bytes) {
  return tm::aligned<std::byte>(bytes);
}

/// The start of member m's shard of `count` elements among n members.
int64_t shardBegin(int64_t count, int64_t m, int64_t n) {
  return count * m / n;
}

} // namespace

PeerGroup::PeerGroup(std::vector<int> ranks, int position)
    : HostGroup(std::move(ranks), position), terms(size()) {}

template <typename Visit> void PeerGroup::forEachPeer(Visit visit) const {
  for (int step = 1; step < size(); ++step)
    visit((rank() + step) % size());
}

int64_t PeerGroup::segmentElements(int64_t width) const {
  constexpr int64_t smallest = 64 << 10, largest = 512 << 10, all = 8 << 20;
  return std::clamp(all / size(), smallest, largest) / width;
}

void PeerGroup::sendSegments(Messages &messages, const std::byte *data, int64_t count,
                             int64_t width, int peer) const {
  const int64_t most = segmentElements(width);
  for (int64_t begin = 0; begin < count; begin += most)
    messages.send(data + begin * width, std::min(most, count - begin) * width, peer);
}

void PeerGroup::addSegments(const std::byte *own, std::byte *out, int64_t count, int64_t width) {
  const int64_t most = segmentElements(width);
  for (int64_t begin = 0; begin < count; begin += most)
    segments.push_back({own + begin * width, out + begin * width, std::min(most, count - begin)});
}

std::byte *PeerGroup::receive(int64_t bytes) {
  received.resize(std::max(received.size(), static_cast<size_t>(bytes)));
  return received.data();
}

void PeerGroup::reduceSegments(Messages &messages, DType type, Reduction op) {
  const int64_t width = sizeOf(type), slotBytes = segmentElements(width) * width;
  const size_t peers = size() - 1;
  std::byte *slots = receive(2 * size() * slotBytes);
  auto slot = [&](size_t segment, int member) {
    return slots + (segment % 2 * size() + member) * slotBytes;
  };
  auto receiveSegment = [&](size_t segment) {
    forEachPeer([&](int peer) {
      messages.receive(slot(segment, peer), segments[segment].count * width, peer);
    });
  };
  if (!segments.empty())
    receiveSegment(0);
  for (size_t segment = 0; segment < segments.size(); ++segment) {
    if (segment + 1 < segments.size())
      receiveSegment(segment + 1);
    messages.awaitReceived((segment + 1) * peers);
    for (int member = 0; member < size(); ++member)
      terms[member] = member == rank() ? segments[segment].own : slot(segment, member);
    combine(segments[segment].out, terms, segments[segment].count, type, op);
  }
  segments.clear();
}

void PeerGroup::reduceWhole(Messages &messages, std::span<const CollectiveBuffer> buffers,
                            DType type, Reduction op) {
  const int64_t width = sizeOf(type), bytes = countElements(buffers) * width;
  std::byte *slots = receive((size() + 1) * bytes);
  auto slot = [&](int member) { return slots + member * bytes; };
  std::byte *result = slot(size());
  auto forEachBuffer = [&](auto visit) {
    int64_t begin = 0;
    for (const CollectiveBuffer &buffer : buffers) {
      visit(buffer.out, begin, buffer.outer * buffer.block * width);
      begin += buffer.outer * buffer.block * width;
    }
  };
  forEachBuffer([&](void *data, int64_t begin, int64_t length) {
    std::memcpy(slot(rank()) + begin, data, length);
  });
  forEachPeer([&](int peer) {
    messages.receive(slot(peer), bytes, peer);
    messages.send(slot(rank()), bytes, peer);
  });
  messages.awaitAll();
  for (int member = 0; member < size(); ++member)
    terms[member] = slot(member);
  combine(result, terms, bytes / width, type, op);
  forEachBuffer([&](void *data, int64_t begin, int64_t length) {
    std::memcpy(data, result + begin, length);
  });
}

bool PeerGroup::supportsUnpacked(std::span<const CollectiveBuffer> buffers) const {
  return std::all_of(buffers.begin(), buffers.end(),
                     [](const CollectiveBuffer &buffer) { return buffer.outer == 1; });
}

void PeerGroup::allReduce(std::span<const CollectiveBuffer> buffers, DType type, Reduction op,
                          Site site) {
  const int64_t width = sizeOf(type);
  auto shard = [&](const CollectiveBuffer &buffer, int member) {
    return at(buffer.out, shardBegin(buffer.block, member, size()) * width);
  };
  auto count = [&](const CollectiveBuffer &buffer, int member) {
    return shardBegin(buffer.block, member + 1, size()) - shardBegin(buffer.block, member, size());
  };
  const CallSignature call{"all_reduce", site, countElements(buffers) * width, type,
                           static_cast<int>(op)};
  withMessages(call, [&](Messages &messages) {
    if (call.bytes <= kWholeBytes)
      return reduceWhole(messages, buffers, type, op);
    for (const CollectiveBuffer &buffer : buffers) {
      forEachPeer([&](int peer) {
        sendSegments(messages, shard(buffer, peer), count(buffer, peer), width, peer);
      });
      std::byte *own = shard(buffer, rank());
      addSegments(own, own, count(buffer, rank()), width);
    }
    reduceSegments(messages, type, op);
    messages.awaitAll(); // the receives below overwrite what was sent
    for (const CollectiveBuffer &buffer : buffers)
      forEachPeer([&](int peer) {
        messages.receive(shard(buffer, peer), count(buffer, peer) * width, peer);
        messages.send(shard(buffer, rank()), count(buffer, rank()) * width, peer);
      });
  });
}

void PeerGroup::coalesce(std::span<const CollectiveBuffer> buffers, int64_t width) {
  coalescedMessages.clear();
  size_t begin = 0;
  int64_t bytes = 0, staged = 0;
  auto close = [&](size_t end) {
    if (begin < end)
      coalescedMessages.push_back({buffers.subspan(begin, end - begin), bytes, staged});
    staged += end - begin > 1 ? alignUp(bytes) : 0;
    begin = end;
    bytes = 0;
  };
  for (size_t i = 0; i < buffers.size(); ++i) {
    const int64_t own = buffers[i].block * width;
    if (own > kLargeBytes || alignUp(bytes) + own > kCoalescedBytes)
      close(i);
    bytes = alignUp(bytes) + own;
    if (own > kLargeBytes)
      close(i + 1);
  }
  close(buffers.size());
  packed.resize(std::max(packed.size(), static_cast<size_t>(staged)));
  receive(size() * staged);
}

const std::byte *PeerGroup::getMessage(const CoalescedMessage &coalesced, int64_t width) {
  const std::byte *first = at(coalesced.buffers.front().in, 0);
  int64_t begin = 0;
  bool isContiguous = true;
  for (const CollectiveBuffer &buffer : coalesced.buffers) {
    isContiguous &= at(buffer.in, 0) == first + begin;
    begin = alignUp(begin + buffer.block * width);
  }
  if (isContiguous)
    return first;
  std::byte *to = packed.data() + coalesced.staged;
  begin = 0;
  for (const CollectiveBuffer &buffer : coalesced.buffers) {
    std::memcpy(to + begin, buffer.in, buffer.block * width);
    begin = alignUp(begin + buffer.block * width);
  }
  return to;
}

void PeerGroup::unpack(const CoalescedMessage &coalesced, const std::byte *message, int peer,
                       int64_t width) {
  for (const CollectiveBuffer &buffer : coalesced.buffers) {
    const int64_t bytes = buffer.block * width;
    std::memcpy(at(buffer.out, peer * bytes), message, bytes);
    message += alignUp(bytes);
  }
}

void PeerGroup::allGather(std::span<const CollectiveBuffer> buffers, DType type, Site site) {
  const int64_t width = sizeOf(type);
  coalesce(buffers, width);
  const CallSignature call{"all_gather", site, countElements(buffers) * width, type};
  withMessages(call, [&](Messages &messages) {
    auto isAlone = [](const CoalescedMessage &coalesced) { return coalesced.buffers.size() == 1; };
    auto slot = [&](const CoalescedMessage &coalesced, int peer) {
      return isAlone(coalesced)
                 ? at(coalesced.buffers.front().out, peer * coalesced.bytes)
                 : received.data() + coalesced.staged * size() + peer * alignUp(coalesced.bytes);
    };
    for (const CoalescedMessage &coalesced : coalescedMessages) {
      const std::byte *own = getMessage(coalesced, width);
      forEachPeer([&](int peer) {
        messages.receive(slot(coalesced, peer), coalesced.bytes, peer);
        messages.send(own, coalesced.bytes, peer);
      });
    }
    for (const CollectiveBuffer &buffer : buffers)
      std::memcpy(at(buffer.out, rank() * buffer.block * width), buffer.in, buffer.block * width);
    const size_t peers = size() - 1;
    for (size_t i = 0; i < coalescedMessages.size(); ++i) {
      if (isAlone(coalescedMessages[i]))
        continue;
      messages.awaitReceived((i + 1) * peers);
      forEachPeer([&](int peer) {
        unpack(coalescedMessages[i], slot(coalescedMessages[i], peer), peer, width);
      });
    }
  });
}

void PeerGroup::reduceScatter(std::span<const CollectiveBuffer> buffers, DType type, Reduction op,
                              Site site) {
  const int64_t width = sizeOf(type);
  const CallSignature call{"reduce_scatter", site, countElements(buffers) * width, type,
                           static_cast<int>(op)};
  withMessages(call, [&](Messages &messages) {
    for (const CollectiveBuffer &buffer : buffers) {
      forEachPeer([&](int peer) {
        sendSegments(messages, at(buffer.in, peer * buffer.block * width), buffer.block, width,
                     peer);
      });
      addSegments(at(buffer.in, rank() * buffer.block * width), at(buffer.out, 0), buffer.block,
                  width);
    }
    reduceSegments(messages, type, op);
  });
}

void PeerGroup::permute(std::span<const CollectiveBuffer> buffers, DType type, Shift shift,
                        Site site) {
  const int64_t width = sizeOf(type);
  const int target = shift.target(rank(), size()), source = shift.source(rank(), size());
  const CallSignature call = signatureOf(shift, countElements(buffers) * width, type, site);
  withMessages(call, [&](Messages &messages) {
    for (const CollectiveBuffer &buffer : buffers) {
      const int64_t bytes = buffer.outer * buffer.block * width;
      if (target == rank()) {
        std::memcpy(buffer.out, buffer.in, bytes);
        continue;
      }
      if (source != Shift::kNobody)
        messages.receive(at(buffer.out, 0), bytes, source);
      if (target != Shift::kNobody)
        messages.send(at(buffer.in, 0), bytes, target);
    }
  });
}

void PeerGroup::allToAll(const void *input, void *output, int64_t count, DType type, Site site) {
  const int64_t bytes = count * sizeOf(type);
  if (bytes == 0)
    return;
  withMessages({"all_to_all", site, bytes, type}, [&](Messages &messages) {
    forEachPeer([&](int peer) {
      messages.receive(at(output, peer * bytes), bytes, peer);
      messages.send(at(input, peer * bytes), bytes, peer);
    });
    std::memcpy(at(output, rank() * bytes), at(input, rank() * bytes), bytes);
  });
}

void PeerGroup::broadcast(void *data, int64_t count, DType type, int root, Site site) {
  const int64_t bytes = count * sizeOf(type);
  withMessages({"broadcast", site, bytes, type, root}, [&](Messages &messages) {
    if (rank() == root)
      forEachPeer([&](int peer) { messages.send(at(data, 0), bytes, peer); });
    else
      messages.receive(at(data, 0), bytes, root);
  });
}

void PeerGroup::barrier(Site site) {
  const std::byte sent{};
  std::byte *slots = receive(size());
  withMessages({"barrier", site, 1, DType::Bool}, [&](Messages &messages) {
    forEachPeer([&](int peer) {
      messages.receive(slots + peer, 1, peer);
      messages.send(&sent, 1, peer);
    });
  });
}

} // namespace titan::rt
