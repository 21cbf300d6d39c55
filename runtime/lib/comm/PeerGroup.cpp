#include "PeerGroup.h"

#include "Bytes.h"
#include "Combine.h"

#include "titan/runtime/alignment.h"

#include <algorithm>
#include <cstring>

namespace titan::rt {

namespace {

/// All-reductions of at most this size are sent whole to every member, which saves one round trip.
constexpr int64_t kWholeBytes = PeerGroup::kTreeBytes;

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
  // In bytes. All members' segments together fit a cache; smaller segments cost more messages.
  constexpr int64_t smallest = 64 << 10, largest = 512 << 10, ofAllMembers = 8 << 20;
  return std::clamp(ofAllMembers / size(), smallest, largest) / width;
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

std::byte *PeerGroup::reserveReceived(int64_t bytes) {
  received.resize(std::max(received.size(), static_cast<size_t>(bytes)));
  return received.data();
}

void PeerGroup::reduceSegments(Messages &messages, DType type, Reduction op) {
  const int64_t width = getByteSize(type), slotBytes = segmentElements(width) * width;
  const size_t peers = size() - 1;
  // Two slots per member: one segment is reduced while the next one arrives.
  std::byte *slots = reserveReceived(2 * size() * slotBytes);
  auto slot = [&](size_t segment, int member) {
    return slots + (segment % 2 * size() + member) * slotBytes;
  };
  arrivals.clear();
  auto receiveSegment = [&](size_t segment) {
    forEachPeer([&](int peer) {
      arrivals.push_back(
          messages.receive(slot(segment, peer), segments[segment].count * width, peer));
    });
  };
  if (!segments.empty())
    receiveSegment(0);
  for (size_t segment = 0; segment < segments.size(); ++segment) {
    if (segment + 1 < segments.size())
      receiveSegment(segment + 1);
    for (size_t peer = 0; peer < peers; ++peer)
      messages.awaitReceived(arrivals[segment * peers + peer]);
    for (int member = 0; member < size(); ++member)
      terms[member] = member == rank() ? segments[segment].own : slot(segment, member);
    combine(segments[segment].out, terms, segments[segment].count, type, op);
  }
  segments.clear();
}

void PeerGroup::reduceWhole(Messages &messages, std::span<const CollectiveBuffer> buffers,
                            DType type, Reduction op) {
  const int64_t width = getByteSize(type), bytes = countElements(buffers) * width;
  std::byte *slots = reserveReceived((size() + 1) * bytes);
  auto slot = [&](int member) { return slots + getSlot(member) * bytes; };
  std::byte *result = slots + size() * bytes;
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
  if (isFew())
    forEachPeer([&](int peer) {
      messages.receive(slot(peer), bytes, peer);
      messages.send(slot(rank()), bytes, peer);
    });
  else
    gatherByTree(messages, slots, bytes);
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

template <typename Deliver>
void PeerGroup::reduceByChain(Messages &messages, DType type, Reduction op, Deliver deliver) {
  const int64_t width = getByteSize(type), partialWidth = getByteSize(partialType(type));
  const int previous = rank() - 1, next = rank() + 1;
  if (rank() == 0) {
    for (const Segment &segment : segments)
      messages.send(segment.own, segment.count * width, next);
    return;
  }
  const bool isSecond = previous == 0; // receives terms instead of sums
  const int64_t slotBytes = segmentElements(width) * partialWidth;
  // Two slots for received sums and two for sums to send, which alternate.
  std::byte *slots = reserveReceived(4 * slotBytes);
  auto before = [&](size_t segment) { return slots + segment % 2 * slotBytes; };
  auto sums = [&](size_t segment) { return slots + (2 + segment % 2) * slotBytes; };
  size_t arrival[2], departure[2];
  auto receiveSegment = [&](size_t segment) {
    const int64_t bytes = segments[segment].count * (isSecond ? width : partialWidth);
    arrival[segment % 2] = messages.receive(before(segment), bytes, previous);
  };
  if (!segments.empty())
    receiveSegment(0);
  for (size_t segment = 0; segment < segments.size(); ++segment) {
    const int64_t count = segments[segment].count;
    if (segment + 1 < segments.size())
      receiveSegment(segment + 1);
    messages.awaitReceived(arrival[segment % 2]);
    if (next < size() && segment >= 2)
      messages.awaitSent(departure[segment % 2]);
    combineNext(sums(segment), before(segment), isSecond, segments[segment].own, count, type, op);
    if (next < size())
      departure[segment % 2] = messages.send(sums(segment), count * partialWidth, next);
    else
      deliver(segment, sums(segment));
  }
}

void PeerGroup::allReduceByChain(Messages &messages, std::span<const CollectiveBuffer> buffers,
                                 DType type, Reduction op) {
  const int64_t width = getByteSize(type);
  for (const CollectiveBuffer &buffer : buffers)
    addSegments(at(buffer.out, 0), at(buffer.out, 0), buffer.outer * buffer.block, width);
  reduceByChain(messages, type, op, [&](size_t segment, const std::byte *sums) {
    const Segment &each = segments[segment];
    combineLast(each.out, sums, each.count, type);
    messages.send(each.out, each.count * width, rank() - 1);
  });
  if (rank() < size() - 1) {
    // A result arrives after the terms that it overwrites have left.
    arrivals.clear();
    for (const Segment &segment : segments)
      arrivals.push_back(messages.receive(segment.out, segment.count * width, rank() + 1));
    for (size_t segment = 0; rank() > 0 && segment < segments.size(); ++segment) {
      messages.awaitReceived(arrivals[segment]);
      messages.send(segments[segment].out, segments[segment].count * width, rank() - 1);
    }
  }
  segments.clear();
}

void PeerGroup::reduceScatterByChain(Messages &messages, std::span<const CollectiveBuffer> buffers,
                                     DType type, Reduction op) {
  const int64_t width = getByteSize(type), most = segmentElements(width);
  const int last = size() - 1;
  owners.clear();
  for (const CollectiveBuffer &buffer : buffers)
    for (int owner = 0; owner < size(); ++owner) {
      const size_t begin = segments.size();
      addSegments(at(buffer.in, owner * buffer.block * width), at(buffer.out, 0), buffer.block,
                  width);
      owners.resize(segments.size(), owner);
      // The last member sends a result while this one still passes on sums.
      for (size_t segment = begin; owner == rank() && rank() != last && segment < segments.size();
           ++segment)
        messages.receive(segments[segment].out, segments[segment].count * width, last);
    }
  packed.resize(std::max(packed.size(), static_cast<size_t>(2 * most * width)));
  size_t sent[2] = {}, results = 0;
  reduceByChain(messages, type, op, [&](size_t segment, const std::byte *sums) {
    const int64_t count = segments[segment].count;
    if (owners[segment] == last)
      return combineLast(segments[segment].out, sums, count, type);
    std::byte *result = packed.data() + results % 2 * most * width;
    if (results >= 2)
      messages.awaitSent(sent[results % 2]);
    combineLast(result, sums, count, type);
    sent[results++ % 2] = messages.send(result, count * width, owners[segment]);
  });
  messages.awaitAll();
  segments.clear();
}

void PeerGroup::allReduceByPairs(Messages &messages, std::span<const CollectiveBuffer> buffers,
                                 DType type, Reduction op) {
  const int64_t width = getByteSize(type);
  auto shard = [&](const CollectiveBuffer &buffer, int member) {
    return at(buffer.out, shardBegin(buffer.block, member, size()) * width);
  };
  auto count = [&](const CollectiveBuffer &buffer, int member) {
    return shardBegin(buffer.block, member + 1, size()) - shardBegin(buffer.block, member, size());
  };
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
}

void PeerGroup::allReduce(std::span<const CollectiveBuffer> buffers, DType type, Reduction op,
                          Site site) {
  const CallSignature call{"all_reduce", site, countElements(buffers) * getByteSize(type), type,
                           static_cast<int>(op)};
  withMessages(call, [&](Messages &messages) {
    if (call.bytes <= kWholeBytes)
      reduceWhole(messages, buffers, type, op);
    else if (isFew())
      allReduceByPairs(messages, buffers, type, op);
    else
      allReduceByChain(messages, buffers, type, op);
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
  reserveReceived(size() * staged);
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

void PeerGroup::gatherByTree(Messages &messages, std::byte *slots, int64_t bytes) {
  for (int held = 1; held < size(); held *= 2) {
    const int64_t count = std::min(held, size() - held) * bytes;
    const size_t arrival = messages.receive(slots + held * bytes, count, (rank() + held) % size());
    messages.send(slots, count, (rank() + size() - held) % size());
    messages.awaitReceived(arrival);
  }
}

template <typename Slot>
void PeerGroup::gatherByPairs(Messages &messages, const std::byte *own, int64_t bytes, Slot slot) {
  forEachPeer([&](int peer) {
    arrivals.push_back(messages.receive(slot(peer), bytes, peer));
    messages.send(own, bytes, peer);
  });
}

template <typename Slot>
void PeerGroup::gatherByRing(Messages &messages, const std::byte *own, int64_t bytes, Slot slot) {
  const int next = (rank() + 1) % size(), previous = (rank() + size() - 1) % size();
  auto member = [&](int steps) { return (rank() + size() - steps) % size(); }; // `steps` earlier
  const size_t first = arrivals.size();
  for (int step = 1; step < size(); ++step)
    arrivals.push_back(messages.receive(slot(member(step)), bytes, previous));
  for (int step = 0; step + 1 < size(); ++step) {
    if (step > 0)
      messages.awaitReceived(arrivals[first + step - 1]);
    messages.send(step == 0 ? own : slot(member(step)), bytes, next);
  }
}

void PeerGroup::allGather(std::span<const CollectiveBuffer> buffers, DType type, Site site) {
  const int64_t width = getByteSize(type);
  coalesce(buffers, width);
  const CallSignature call{"all_gather", site, countElements(buffers) * width, type};
  withMessages(call, [&](Messages &messages) {
    if (!isFew() && call.bytes <= kTreeBytes)
      return gatherWhole(messages, buffers, width);
    auto isSingle = [](const CoalescedMessage &coalesced) { return coalesced.buffers.size() == 1; };
    auto slot = [&](const CoalescedMessage &coalesced, int peer) {
      return isSingle(coalesced)
                 ? at(coalesced.buffers.front().out, peer * coalesced.bytes)
                 : received.data() + coalesced.staged * size() + peer * alignUp(coalesced.bytes);
    };
    arrivals.clear();
    for (const CoalescedMessage &coalesced : coalescedMessages) {
      const std::byte *own = getMessage(coalesced, width);
      auto slotOfPeer = [&](int peer) { return slot(coalesced, peer); };
      if (isFew())
        gatherByPairs(messages, own, coalesced.bytes, slotOfPeer);
      else
        gatherByRing(messages, own, coalesced.bytes, slotOfPeer);
    }
    for (const CollectiveBuffer &buffer : buffers)
      std::memcpy(at(buffer.out, rank() * buffer.block * width), buffer.in, buffer.block * width);
    const size_t peers = size() - 1;
    for (size_t i = 0; i < coalescedMessages.size(); ++i) {
      if (isSingle(coalescedMessages[i]))
        continue;
      for (size_t peer = 0; peer < peers; ++peer)
        messages.awaitReceived(arrivals[i * peers + peer]);
      forEachPeer([&](int peer) {
        unpack(coalescedMessages[i], slot(coalescedMessages[i], peer), peer, width);
      });
    }
  });
}

void PeerGroup::gatherWhole(Messages &messages, std::span<const CollectiveBuffer> buffers,
                            int64_t width) {
  const int64_t bytes = countElements(buffers) * width;
  std::byte *slots = reserveReceived(size() * bytes);
  auto forEachBuffer = [&](auto visit) {
    int64_t begin = 0;
    for (const CollectiveBuffer &buffer : buffers) {
      visit(buffer, begin, buffer.block * width);
      begin += buffer.block * width;
    }
  };
  forEachBuffer([&](const CollectiveBuffer &buffer, int64_t begin, int64_t length) {
    std::memcpy(slots + begin, buffer.in, length);
  });
  gatherByTree(messages, slots, bytes);
  for (int member = 0; member < size(); ++member)
    forEachBuffer([&](const CollectiveBuffer &buffer, int64_t begin, int64_t length) {
      std::memcpy(at(buffer.out, member * length), slots + getSlot(member) * bytes + begin, length);
    });
}

void PeerGroup::reduceScatterByPairs(Messages &messages, std::span<const CollectiveBuffer> buffers,
                                     DType type, Reduction op) {
  const int64_t width = getByteSize(type);
  for (const CollectiveBuffer &buffer : buffers) {
    forEachPeer([&](int peer) {
      sendSegments(messages, at(buffer.in, peer * buffer.block * width), buffer.block, width, peer);
    });
    addSegments(at(buffer.in, rank() * buffer.block * width), at(buffer.out, 0), buffer.block,
                width);
  }
  reduceSegments(messages, type, op);
}

void PeerGroup::reduceScatter(std::span<const CollectiveBuffer> buffers, DType type, Reduction op,
                              Site site) {
  const CallSignature call{"reduce_scatter", site, countElements(buffers) * getByteSize(type), type,
                           static_cast<int>(op)};
  withMessages(call, [&](Messages &messages) {
    if (isFew())
      reduceScatterByPairs(messages, buffers, type, op);
    else
      reduceScatterByChain(messages, buffers, type, op);
  });
}

void PeerGroup::permute(std::span<const CollectiveBuffer> buffers, DType type, Shift shift,
                        Site site) {
  const int64_t width = getByteSize(type);
  const int target = shift.target(rank(), size()), source = shift.source(rank(), size());
  const CallSignature call = makeSignature(shift, countElements(buffers) * width, type, site);
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
  const int64_t bytes = count * getByteSize(type);
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

/// A binomial tree. The member at distance d from the root receives from the one at distance
/// d - 2^b, where 2^b is the lowest set bit of d. It sends to distances d + 2^c for all c < b.
void PeerGroup::broadcast(void *data, int64_t count, DType type, int root, Site site) {
  const int64_t bytes = count * getByteSize(type);
  const int distance = (rank() + size() - root) % size();
  auto member = [&](int steps) { return (root + steps) % size(); };
  withMessages({"broadcast", site, bytes, type, root}, [&](Messages &messages) {
    int bit = 1;
    while (bit < size() && !(distance & bit))
      bit *= 2;
    if (distance)
      messages.awaitReceived(messages.receive(at(data, 0), bytes, member(distance - bit)));
    while (bit /= 2)
      if (distance + bit < size())
        messages.send(at(data, 0), bytes, member(distance + bit));
  });
}

/// After round r, each member knows that the 2^r members before it have arrived (dissemination:
/// Hensgen, Finkel and Manber, Int. J. of Parallel Programming 17, 1988).
void PeerGroup::barrier(Site site) {
  const std::byte sent{};
  std::byte heard{};
  withMessages({"barrier", site, 1, DType::Bool}, [&](Messages &messages) {
    for (int step = 1; step < size(); step *= 2) {
      const size_t arrival = messages.receive(&heard, 1, (rank() + size() - step) % size());
      messages.send(&sent, 1, (rank() + step) % size());
      messages.awaitReceived(arrival);
    }
  });
}

} // namespace titan::rt
