//===- ArenaPlacement.h - Placing buffers one after the other ---*- C++ -*-===//
//
// Buffers are placed in a given order, each at the lowest offset where nothing lies that must be
// apart from it (Pisarchyk and Lee, arXiv 2001.03288). Which order gives the least arena is for
// others to find out (ArenaPlanner.h): they try thousands, so what two buffers must keep apart is
// tabled once, and an order is given up as soon as it needs more than the best one.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_BASE_ARENA_ARENAPLACEMENT_H
#define TITAN_BASE_ARENA_ARENAPLACEMENT_H

#include "base/arena/ArenaConflicts.h"

#include <limits>
#include <vector>

namespace titan::arena {

struct ArenaPlan {
  std::vector<int64_t> offsets; ///< one per item
  int64_t bytes = 0;            ///< what the arena must hold
};

class ArenaPlacement {
public:
  explicit ArenaPlacement(const std::vector<ArenaItem> &items, const ArenaConflicts &conflicts)
      : conflicts(conflicts), count(items.size()), forbidden(count * count) {
    for (size_t i = 0; i < count; ++i)
      for (size_t j = 0; j < count; ++j)
        forbidden[i * count + j] = conflicts.getForbidden(i, j, 0);
  }

  /// False if the order needs more than `limit`. With partners, an item's partner is placed with
  /// it, at the distance at which they share most.
  bool place(const std::vector<size_t> &order, bool withPartners,
             int64_t limit = std::numeric_limits<int64_t>::max()) {
    plan.offsets.assign(count, 0);
    plan.bytes = 0;
    isPlaced.assign(count, false);
    placed.clear();
    for (size_t i : order) {
      if (isPlaced[i] || conflicts.getSize(i) == 0)
        continue;
      if (withPartners && conflicts.hasPartner(i))
        placeWithPartner(i);
      else
        put(i, findOffset(i, 0));
      if (plan.bytes > limit)
        return false;
    }
    return true;
  }

  /// The last order's, whole if it kept within the limit.
  const ArenaPlan &getPlan() const { return plan; }

private:
  void placeWithPartner(size_t i) {
    auto [partner, distance] = conflicts.getPartner(i);
    int64_t offset = std::max<int64_t>(0, -distance), previous = -1;
    while (offset != previous) {
      previous = offset;
      offset = findOffset(i, offset);
      offset = findOffset(partner, offset + distance) - distance;
    }
    put(i, offset);
    put(partner, offset + distance);
  }

  /// The lowest offset of `i` that is not below `least`. Those placed are met by rising offsets, so
  /// that one look at all of them mostly suffices; stackOverlaps may want another.
  int64_t findOffset(size_t i, int64_t least) const {
    const ArenaConflicts::Range *row = &forbidden[i * count];
    for (bool isFree = false; !isFree;) {
      isFree = true;
      for (auto [offset, j] : placed)
        if (offset + row[j].begin < least && least < offset + row[j].end) {
          least = offset + row[j].end;
          isFree = false;
        }
    }
    return least;
  }

  void put(size_t i, int64_t offset) {
    plan.offsets[i] = offset;
    plan.bytes = std::max(plan.bytes, offset + conflicts.getSize(i));
    const std::pair<int64_t, size_t> item(offset, i);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), item), item);
    isPlaced[i] = true;
  }

  const ArenaConflicts &conflicts;
  size_t count;
  std::vector<ArenaConflicts::Range> forbidden; ///< [i][j]: what j at offset 0 keeps from i
  ArenaPlan plan;
  std::vector<bool> isPlaced;
  std::vector<std::pair<int64_t, size_t>> placed; ///< offset and item, sorted
};

} // namespace titan::arena

#endif // TITAN_BASE_ARENA_ARENAPLACEMENT_H
