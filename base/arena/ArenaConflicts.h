//===- ArenaConflicts.h - Which buffers must lie apart ----------*- C++ -*-===//
//
// Two buffers that live at the same event must lie apart, except for stacks of which one is filled
// while the other empties (Handover.h): these may lie over one another as far as what is alive of
// them stays apart.
//
// Sizes are in bytes, lifetimes in events of a linear order, both ends included. Buffers of no size
// are in nobody's way.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_BASE_ARENA_ARENACONFLICTS_H
#define TITAN_BASE_ARENA_ARENACONFLICTS_H

#include "base/arena/Alignment.h"
#include "base/arena/Corners.h"

#include <map>
#include <tuple>
#include <utility>

namespace titan::arena {

struct ArenaItem {
  int64_t bytes;
  int64_t first, last;

  bool livesWith(const ArenaItem &other) const {
    return first <= other.last && other.first <= last;
  }
};

/// Rounds up, so that every buffer starts on a cache line and vector loads are aligned.
constexpr int64_t alignTo(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

class ArenaConflicts {
public:
  ArenaConflicts(const std::vector<ArenaItem> &items, const std::vector<Handover> &handovers,
                 int64_t alignment)
      : items(items), alignment(alignment), isHandedOver(items.size(), false),
        mates(items.size(), Mate{items.size(), 0}) {
    for (const Handover &handover : handovers)
      for (size_t emptied : handover.emptied)
        for (size_t filled : handover.filled)
          add(handover, emptied, filled);
    matchPairs();
  }

  int64_t getSize(size_t i) const { return alignTo(items[i].bytes, alignment); }

  /// Offsets that one item may not have, ends excluded.
  struct Range {
    int64_t begin, end;
  };
  /// Those that item `j` at `offset` keeps from `i`; none where begin is end.
  Range getForbidden(size_t i, size_t j, int64_t offset) const {
    if (!items[i].livesWith(items[j]))
      return {offset, offset};
    if (isHandedOver[i] && isHandedOver[j]) {
      if (auto pair = pairs.find({j, i}); pair != pairs.end())
        return {offset - pair->second.below, offset + pair->second.above};
      if (auto pair = pairs.find({i, j}); pair != pairs.end())
        return {offset - pair->second.above, offset + pair->second.below};
    }
    return {offset - getSize(i), offset + getSize(j)};
  }

  /// The item that shares most bytes with `i`, and where it then lies relative to `i`. Each item is
  /// the mate of one other; the number of items stands for none.
  struct Mate {
    size_t item;
    int64_t distance;
  };
  const Mate &getMate(size_t i) const { return mates[i]; }
  bool hasMate(size_t i) const { return mates[i].item < items.size(); }
  /// The bytes that `i` and its mate have in common.
  int64_t getShared(size_t i) const { return hasMate(i) ? getShared(i, mates[i]) : 0; }

private:
  /// How far a filled stack must be above an emptied one, or below it.
  struct Distances {
    int64_t above, below;
  };

  void add(const Handover &handover, size_t emptied, size_t filled) {
    if (items[emptied].bytes == 0 || items[filled].bytes == 0)
      return;
    int64_t from = items[emptied].bytes / handover.emptiedSlots,
            to = items[filled].bytes / handover.filledSlots;
    int64_t above = alignTo(getDistance(handover.filledAbove, from, to), alignment),
            below = alignTo(getDistance(handover.filledBelow, to, from), alignment);
    pairs[{emptied, filled}] = {std::min(above, getSize(emptied)),
                                std::min(below, getSize(filled))};
    isHandedOver[emptied] = isHandedOver[filled] = true;
  }

  int64_t getShared(size_t i, Mate mate) const {
    int64_t begin = std::max<int64_t>(0, mate.distance),
            end = std::min(getSize(i), mate.distance + getSize(mate.item));
    return std::max<int64_t>(0, end - begin);
  }

  /// Greedily, those that share most first.
  void matchPairs() {
    std::vector<std::tuple<int64_t, size_t, Mate>> matches;
    for (auto &[pair, distances] : pairs)
      for (int64_t distance : {distances.above, -distances.below}) {
        Mate mate{pair.second, distance};
        matches.emplace_back(getShared(pair.first, mate), pair.first, mate);
      }
    std::stable_sort(matches.begin(), matches.end(),
                     [](const auto &a, const auto &b) { return std::get<0>(a) > std::get<0>(b); });
    for (auto [shared, emptied, mate] : matches) {
      if (shared == 0 || hasMate(emptied) || hasMate(mate.item))
        continue;
      mates[emptied] = mate;
      mates[mate.item] = {emptied, -mate.distance};
    }
  }

  const std::vector<ArenaItem> &items;
  int64_t alignment;
  std::map<std::pair<size_t, size_t>, Distances> pairs; ///< emptied and filled
  std::vector<bool> isHandedOver;
  std::vector<Mate> mates;
};

} // namespace titan::arena

#endif // TITAN_BASE_ARENA_ARENACONFLICTS_H
