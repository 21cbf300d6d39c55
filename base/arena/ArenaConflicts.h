// Conflicts between the allocations of an arena: which of them must be disjoint.
//
// Two allocations that are live at the same event must be disjoint. Stacks with a stack overlap
// (StackOverlap.h) may share the bytes of slots that are not live at the same time.
//
// Sizes are in bytes. Live ranges are inclusive ranges of events. Allocations of size 0 conflict
// with nothing.
#pragma once

#include "base/arena/Alignment.h"
#include "base/arena/OffsetConstraints.h"

#include <map>
#include <tuple>
#include <utility>

namespace titan::arena {

/// An allocation to be placed.
struct ArenaItem {
  int64_t bytes;
  int64_t first, last; ///< the first and the last event at which it is live

  bool livesWith(const ArenaItem &other) const {
    return first <= other.last && other.first <= last;
  }
};

/// Rounds up, so that every allocation starts on a cache line and vector loads are aligned.
constexpr int64_t alignTo(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

class ArenaConflicts {
public:
  ArenaConflicts(const std::vector<ArenaItem> &items,
                 const std::vector<StackOverlap> &stackOverlaps, int64_t alignment)
      : items(items), alignment(alignment), hasOverlap(items.size(), false),
        partners(items.size(), Partner{items.size(), 0}) {
    for (const StackOverlap &overlap : stackOverlaps)
      for (size_t consumed : overlap.consumed)
        for (size_t produced : overlap.produced)
          addOverlap(overlap, consumed, produced);
    matchPairs();
  }

  int64_t getSize(size_t i) const { return alignTo(items[i].bytes, alignment); }

  /// A range of forbidden offsets, both ends excluded.
  struct Range {
    int64_t begin, end;
  };
  /// The offsets of `i` that conflict with item `j` at `offset`; empty if begin equals end.
  Range getForbidden(size_t i, size_t j, int64_t offset) const {
    if (!items[i].livesWith(items[j]))
      return {offset, offset};
    if (hasOverlap[i] && hasOverlap[j]) {
      if (auto pair = pairs.find({j, i}); pair != pairs.end())
        return {offset - pair->second.below, offset + pair->second.above};
      if (auto pair = pairs.find({i, j}); pair != pairs.end())
        return {offset - pair->second.above, offset + pair->second.below};
    }
    return {offset - getSize(i), offset + getSize(j)};
  }

  /// The item that shares the most bytes with `i`, and its offset relative to `i`. Each item is the
  /// partner of at most one other; the number of items means none.
  struct Partner {
    size_t item;
    int64_t distance;
  };
  const Partner &getPartner(size_t i) const { return partners[i]; }
  bool hasPartner(size_t i) const { return partners[i].item < items.size(); }
  /// The bytes that `i` and its partner share.
  int64_t getShared(size_t i) const { return hasPartner(i) ? getShared(i, partners[i]) : 0; }

private:
  /// The minimum distance of a produced stack above a consumed one, and below it.
  struct Distances {
    int64_t above, below;
  };

  void addOverlap(const StackOverlap &overlap, size_t consumed, size_t produced) {
    if (items[consumed].bytes == 0 || items[produced].bytes == 0)
      return;
    int64_t consumedRow = items[consumed].bytes / overlap.consumedSlots,
            producedRow = items[produced].bytes / overlap.producedSlots;
    int64_t above =
                alignTo(getMinDistance(overlap.producedAbove, consumedRow, producedRow), alignment),
            below =
                alignTo(getMinDistance(overlap.producedBelow, producedRow, consumedRow), alignment);
    pairs[{consumed, produced}] = {std::min(above, getSize(consumed)),
                                   std::min(below, getSize(produced))};
    hasOverlap[consumed] = hasOverlap[produced] = true;
  }

  int64_t getShared(size_t i, Partner partner) const {
    int64_t begin = std::max<int64_t>(0, partner.distance),
            end = std::min(getSize(i), partner.distance + getSize(partner.item));
    return std::max<int64_t>(0, end - begin);
  }

  /// Greedy: the pairs that share the most bytes first.
  void matchPairs() {
    std::vector<std::tuple<int64_t, size_t, Partner>> matches;
    for (auto &[pair, distances] : pairs)
      for (int64_t distance : {distances.above, -distances.below}) {
        Partner partner{pair.second, distance};
        matches.emplace_back(getShared(pair.first, partner), pair.first, partner);
      }
    std::stable_sort(matches.begin(), matches.end(),
                     [](const auto &a, const auto &b) { return std::get<0>(a) > std::get<0>(b); });
    for (auto [shared, consumed, partner] : matches) {
      if (shared == 0 || hasPartner(consumed) || hasPartner(partner.item))
        continue;
      partners[consumed] = partner;
      partners[partner.item] = {consumed, -partner.distance};
    }
  }

  const std::vector<ArenaItem> &items;
  int64_t alignment;
  std::map<std::pair<size_t, size_t>, Distances> pairs; ///< by consumed and produced item
  std::vector<bool> hasOverlap;
  std::vector<Partner> partners;
};

} // namespace titan::arena
