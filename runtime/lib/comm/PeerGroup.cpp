#include "PeerGroup.h"

#include "Bytes.h"
#include "Combine.h"

#include "titan/runtime/alignment.h"

#include <algorithm>
#include <cstring>

namespace titan::rt {

namespace {

/// All-reductions of so many bytes or fewer go whole to every member, in one turn instead of two.
constexpr int64_t kWholeBytes = 4096;

/// Values of more bytes than these go alone, and others together in messages of so many at most: up
/// to there a message costs more than the copies that it saves (bench/buckets).
constexpr int64_t kLargeBytes = 512 << 10, kBundleBytes = 2 << 20;

constexpr int64_t alignUp(int64_t bytes) {
  return tm::aligned<std::byte>(bytes);
}

/// Where member m's part of `count` elements begins that n members share.
int64_t partBegin(int64_t count, int64_t m, int64_t n) {
  return count * m / n;
}

} // namespace

PeerGroup::PeerGroup(std::vector<int> ranks, int position)
    : SharesGroup(std::move(ranks), position), terms(size()) {}

template <typename Visit> void PeerGroup::forEachPeer(Visit visit) const {
  for (int step = 1; step < size(); ++step)
    visit((rank() + step) % size());
}

int64_t PeerGroup::pieceElements(int64_t width) const {
  constexpr int64_t smallest = 64 << 10, largest = 512 << 10, all = 8 << 20;
  return std::clamp(all / size(), smallest, largest) / width;
}

void PeerGroup::sendInPieces(Messages &messages, const std::byte *data, int64_t count,
                             int64_t width, int peer) const {
  const int64_t most = pieceElements(width);
  for (int64_t begin = 0; begin < count; begin += most)
    messages.send(data + begin * width, std::min(most, count - begin) * width, peer);
}

void PeerGroup::addPieces(const std::byte *own, std::byte *out, int64_t count, int64_t width) {
  const int64_t most = pieceElements(width);
  for (int64_t begin = 0; begin < count; begin += most)
    pieces.push_back({own + begin * width, out + begin * width, std::min(most, count - begin)});
}

std::byte *PeerGroup::receive(int64_t bytes) {
  received.resize(std::max(received.size(), static_cast<size_t>(bytes)));
  return received.data();
}

void PeerGroup::reducePieces(Messages &messages, DType type, Reduction op) {
  const int64_t width = sizeOf(type), slotBytes = pieceElements(width) * width;
  const size_t peers = size() - 1;
  std::byte *slots = receive(2 * size() * slotBytes);
  auto slot = [&](size_t piece, int member) {
    return slots + (piece % 2 * size() + member) * slotBytes;
  };
  auto receivePiece = [&](size_t piece) {
    forEachPeer(
        [&](int peer) { messages.receive(slot(piece, peer), pieces[piece].count * width, peer); });
  };
  if (!pieces.empty())
    receivePiece(0);
  for (size_t piece = 0; piece < pieces.size(); ++piece) {
    if (piece + 1 < pieces.size())
      receivePiece(piece + 1);
    messages.awaitReceived((piece + 1) * peers);
    for (int member = 0; member < size(); ++member)
      terms[member] = member == rank() ? pieces[piece].own : slot(piece, member);
    combine(pieces[piece].out, terms, pieces[piece].count, type, op);
  }
  pieces.clear();
}

void PeerGroup::reduceWhole(Messages &messages, std::span<const Share> shares, DType type,
                            Reduction op) {
  const int64_t width = sizeOf(type), bytes = countElements(shares) * width;
  std::byte *slots = receive((size() + 1) * bytes);
  auto slot = [&](int member) { return slots + member * bytes; };
  std::byte *result = slot(size());
  auto forEachShare = [&](auto visit) {
    int64_t begin = 0;
    for (const Share &share : shares) {
      visit(share.out, begin, share.outer * share.block * width);
      begin += share.outer * share.block * width;
    }
  };
  forEachShare([&](void *data, int64_t begin, int64_t length) {
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
  forEachShare([&](void *data, int64_t begin, int64_t length) {
    std::memcpy(data, result + begin, length);
  });
}

bool PeerGroup::takes(std::span<const Share> shares) const {
  return std::all_of(shares.begin(), shares.end(),
                     [](const Share &share) { return share.outer == 1; });
}

void PeerGroup::allReduce(std::span<const Share> shares, DType type, Reduction op, Site site) {
  const int64_t width = sizeOf(type);
  auto part = [&](const Share &share, int member) {
    return at(share.out, partBegin(share.block, member, size()) * width);
  };
  auto count = [&](const Share &share, int member) {
    return partBegin(share.block, member + 1, size()) - partBegin(share.block, member, size());
  };
  const Call call{"all_reduce", site, countElements(shares) * width, type, static_cast<int>(op)};
  converse(call, [&](Messages &messages) {
    if (call.bytes <= kWholeBytes)
      return reduceWhole(messages, shares, type, op);
    for (const Share &share : shares) {
      forEachPeer([&](int peer) {
        sendInPieces(messages, part(share, peer), count(share, peer), width, peer);
      });
      std::byte *own = part(share, rank());
      addPieces(own, own, count(share, rank()), width);
    }
    reducePieces(messages, type, op);
    messages.awaitAll(); // what was sent is now overwritten
    for (const Share &share : shares)
      forEachPeer([&](int peer) {
        messages.receive(part(share, peer), count(share, peer) * width, peer);
        messages.send(part(share, rank()), count(share, rank()) * width, peer);
      });
  });
}

void PeerGroup::makeBundles(std::span<const Share> shares, int64_t width) {
  bundles.clear();
  size_t begin = 0;
  int64_t bytes = 0, staged = 0;
  auto close = [&](size_t end) {
    if (begin < end)
      bundles.push_back({shares.subspan(begin, end - begin), bytes, staged});
    staged += end - begin > 1 ? alignUp(bytes) : 0;
    begin = end;
    bytes = 0;
  };
  for (size_t i = 0; i < shares.size(); ++i) {
    const int64_t own = shares[i].block * width;
    if (own > kLargeBytes || alignUp(bytes) + own > kBundleBytes)
      close(i);
    bytes = alignUp(bytes) + own;
    if (own > kLargeBytes)
      close(i + 1);
  }
  close(shares.size());
  packed.resize(std::max(packed.size(), static_cast<size_t>(staged)));
  receive(size() * staged);
}

const std::byte *PeerGroup::getMessage(const Bundle &bundle, int64_t width) {
  const std::byte *first = at(bundle.shares.front().in, 0);
  int64_t begin = 0;
  bool liesSo = true;
  for (const Share &share : bundle.shares) {
    liesSo &= at(share.in, 0) == first + begin;
    begin = alignUp(begin + share.block * width);
  }
  if (liesSo)
    return first;
  std::byte *to = packed.data() + bundle.staged;
  begin = 0;
  for (const Share &share : bundle.shares) {
    std::memcpy(to + begin, share.in, share.block * width);
    begin = alignUp(begin + share.block * width);
  }
  return to;
}

void PeerGroup::unpack(const Bundle &bundle, const std::byte *message, int peer, int64_t width) {
  for (const Share &share : bundle.shares) {
    const int64_t bytes = share.block * width;
    std::memcpy(at(share.out, peer * bytes), message, bytes);
    message += alignUp(bytes);
  }
}

void PeerGroup::allGather(std::span<const Share> shares, DType type, Site site) {
  const int64_t width = sizeOf(type);
  makeBundles(shares, width);
  const Call call{"all_gather", site, countElements(shares) * width, type};
  converse(call, [&](Messages &messages) {
    auto isAlone = [](const Bundle &bundle) { return bundle.shares.size() == 1; };
    auto slot = [&](const Bundle &bundle, int peer) {
      return isAlone(bundle)
                 ? at(bundle.shares.front().out, peer * bundle.bytes)
                 : received.data() + bundle.staged * size() + peer * alignUp(bundle.bytes);
    };
    for (const Bundle &bundle : bundles) {
      const std::byte *own = getMessage(bundle, width);
      forEachPeer([&](int peer) {
        messages.receive(slot(bundle, peer), bundle.bytes, peer);
        messages.send(own, bundle.bytes, peer);
      });
    }
    for (const Share &share : shares)
      std::memcpy(at(share.out, rank() * share.block * width), share.in, share.block * width);
    const size_t peers = size() - 1;
    for (size_t i = 0; i < bundles.size(); ++i) {
      if (isAlone(bundles[i]))
        continue;
      messages.awaitReceived((i + 1) * peers);
      forEachPeer([&](int peer) { unpack(bundles[i], slot(bundles[i], peer), peer, width); });
    }
  });
}

void PeerGroup::reduceScatter(std::span<const Share> shares, DType type, Reduction op, Site site) {
  const int64_t width = sizeOf(type);
  const Call call{"reduce_scatter", site, countElements(shares) * width, type,
                  static_cast<int>(op)};
  converse(call, [&](Messages &messages) {
    for (const Share &share : shares) {
      forEachPeer([&](int peer) {
        sendInPieces(messages, at(share.in, peer * share.block * width), share.block, width, peer);
      });
      addPieces(at(share.in, rank() * share.block * width), at(share.out, 0), share.block, width);
    }
    reducePieces(messages, type, op);
  });
}

void PeerGroup::allToAll(const void *input, void *output, int64_t count, DType type, Site site) {
  const int64_t bytes = count * sizeOf(type);
  if (bytes == 0)
    return;
  converse({"all_to_all", site, bytes, type}, [&](Messages &messages) {
    forEachPeer([&](int peer) {
      messages.receive(at(output, peer * bytes), bytes, peer);
      messages.send(at(input, peer * bytes), bytes, peer);
    });
    std::memcpy(at(output, rank() * bytes), at(input, rank() * bytes), bytes);
  });
}

void PeerGroup::broadcast(void *data, int64_t count, DType type, int root, Site site) {
  const int64_t bytes = count * sizeOf(type);
  converse({"broadcast", site, bytes, type, root}, [&](Messages &messages) {
    if (rank() == root)
      forEachPeer([&](int peer) { messages.send(at(data, 0), bytes, peer); });
    else
      messages.receive(at(data, 0), bytes, root);
  });
}

void PeerGroup::barrier(Site site) {
  const std::byte sent{};
  std::byte *slots = receive(size());
  converse({"barrier", site, 1, DType::Bool}, [&](Messages &messages) {
    forEachPeer([&](int peer) {
      messages.receive(slots + peer, 1, peer);
      messages.send(&sent, 1, peer);
    });
  });
}

} // namespace titan::rt
