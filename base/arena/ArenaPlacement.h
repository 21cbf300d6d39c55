// First-fit placement of allocations.
//
// Places allocations in a given order, each at the lowest offset without a conflict (Pisarchyk and
// Lee, arXiv 2001.03288). ArenaPlanner.h searches for the order with the smallest arena and tries
// thousands. All pairwise conflicts are therefore computed once, and a placement stops as soon as
// it exceeds the best arena.
#pragma once

#include "base/arena/ArenaConflicts.h"

#include <limits>
#include <vector>

namespace titan::arena {

struct ArenaPlan {
  std::vector<int64_t> offsets; ///< one per item
  int64_t bytes = 0;            ///< size of the arena
};

class ArenaPlacement {
public:
  explicit ArenaPlacement(const std::vector<ArenaItem> &items, const ArenaConflicts &conflicts)
      : conflicts(conflicts), count(items.size()), forbidden(count * count) {
    for (size_t i = 0; i < count; ++i)
      for (size_t j = 0; j < count; ++j)
        forbidden[i * count + j] = conflicts.getForbidden(i, j, 0);
  }

  /// False if the placement exceeds `limit`. With partners, an item and its partner are placed
  /// together, at the distance at which they share the most bytes.
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

  /// The last placement; incomplete if it exceeded its limit.
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

  /// The lowest offset of `i` that is at least `least`. Placed items are visited by ascending
  /// offset, so one pass mostly suffices; stack overlaps may need another.
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
  std::vector<ArenaConflicts::Range>
      forbidden; ///< [i][j]: offsets of i that conflict with j at offset 0
  ArenaPlan plan;
  std::vector<bool> isPlaced;
  std::vector<std::pair<int64_t, size_t>> placed; ///< offset and item, sorted
};

} // namespace titan::arena
