//===- ArenaPlanner.h - Offsets for buffers with lifetimes ------*- C++ -*-===//
//
// Packs buffers whose lifetimes are known into one arena. Plain data without MLIR, because two
// parties plan: the compiler, to say how much a program needs, and the runtime, at start-up, since
// with `auto` degrees the sizes are known only then.
//
// Finding the least arena is NP-hard (it is dynamic storage allocation), so buffers are placed
// greedily, each at the lowest offset where nothing that lives at the same time lies (after
// Pisarchyk and Lee, arXiv 2001.03288, "greedy by size"), in three orders; the best of them is then
// improved by letting what reaches highest choose first. The smallest result counts.
//
// Sizes are in bytes, lifetimes in events of a linear order, both ends included. Buffers of no size
// get offset 0.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_SUPPORT_ARENAPLANNER_H
#define TITAN_COMPILER_SUPPORT_ARENAPLANNER_H

#include "compiler/support/ArenaConflicts.h"

#include <map>
#include <numeric>
#include <vector>

namespace titan::support {

struct ArenaPlan {
  std::vector<int64_t> offsets; ///< one per item
  int64_t bytes = 0;            ///< what the arena must hold
};

/// The most that lives at one event, where mates share what they can: no plan without handovers is
/// smaller.
struct Peak {
  int64_t bytes = 0, event = 0; ///< the first event at which so much lives
  int64_t shared = 0; ///< what mates have in common at that event, counted once in `bytes`
};
inline Peak findPeak(const std::vector<ArenaItem> &items, const ArenaConflicts &conflicts) {
  std::map<int64_t, std::pair<int64_t, int64_t>> changes; // of what lives, and what is shared
  auto change = [&](int64_t first, int64_t last, int64_t bytes, int64_t shared) {
    for (auto [event, sign] : {std::pair(first, 1), std::pair(last + 1, -1)}) {
      changes[event].first += sign * bytes;
      changes[event].second += sign * shared;
    }
  };
  for (size_t i = 0; i < items.size(); ++i) {
    change(items[i].first, items[i].last, conflicts.getSize(i), 0);
    if (size_t mate = conflicts.getMate(i).item; conflicts.hasMate(i) && mate > i)
      change(std::max(items[i].first, items[mate].first), std::min(items[i].last, items[mate].last),
             -conflicts.getShared(i), conflicts.getShared(i));
  }
  Peak peak;
  int64_t live = 0, shared = 0;
  for (auto [event, changed] : changes) {
    shared += changed.second;
    if ((live += changed.first) > peak.bytes)
      peak = {live, event, shared};
  }
  return peak;
}
inline Peak findPeak(const std::vector<ArenaItem> &items,
                     const std::vector<Handover> &handovers = {}, int64_t alignment = 64) {
  return findPeak(items, ArenaConflicts(items, handovers, alignment));
}

/// Places items one after the other, each as low as it can lie.
class ArenaPlacement {
public:
  ArenaPlacement(const std::vector<ArenaItem> &items, const ArenaConflicts &conflicts)
      : items(items), conflicts(conflicts), isPlaced(items.size(), false) {
    plan.offsets.assign(items.size(), 0);
  }

  /// `withMates`: an item's mate is placed with it, at the distance at which they share most.
  ArenaPlan place(const std::vector<size_t> &order, bool withMates) {
    for (size_t i : order) {
      if (isPlaced[i] || conflicts.getSize(i) == 0)
        continue;
      if (withMates && conflicts.hasMate(i))
        placeWithMate(i);
      else
        put(i, findOffset(i, 0));
    }
    return std::move(plan);
  }

private:
  void placeWithMate(size_t i) {
    auto [mate, distance] = conflicts.getMate(i);
    int64_t offset = std::max<int64_t>(0, -distance), previous = -1;
    while (offset != previous) {
      previous = offset;
      offset = findOffset(i, offset);
      offset = findOffset(mate, offset + distance) - distance;
    }
    put(i, offset);
    put(mate, offset + distance);
  }

  /// The lowest offset of `i` that is not below `least`.
  int64_t findOffset(size_t i, int64_t least) {
    forbidden.clear();
    for (size_t j : placed)
      if (auto range = conflicts.getForbidden(i, j, plan.offsets[j]); range.begin < range.end)
        forbidden.push_back({range.begin, range.end});
    std::sort(forbidden.begin(), forbidden.end());
    for (auto [begin, end] : forbidden) {
      if (least <= begin)
        break;
      least = std::max(least, end);
    }
    return least;
  }

  void put(size_t i, int64_t offset) {
    plan.offsets[i] = offset;
    plan.bytes = std::max(plan.bytes, offset + conflicts.getSize(i));
    placed.push_back(i);
    isPlaced[i] = true;
  }

  const std::vector<ArenaItem> &items;
  const ArenaConflicts &conflicts;
  ArenaPlan plan;
  std::vector<bool> isPlaced;
  std::vector<size_t> placed;
  std::vector<std::pair<int64_t, int64_t>> forbidden;
};

/// Places items in the given order, as if there were no handovers.
inline ArenaPlan placeInOrder(const std::vector<ArenaItem> &items, const std::vector<size_t> &order,
                              int64_t alignment = 64) {
  ArenaConflicts conflicts(items, {}, alignment);
  return ArenaPlacement(items, conflicts).place(order, /*withMates=*/false);
}

/// How often an order is improved; far from all of it is needed where a plan can be had without
/// gaps.
inline constexpr int kImprovements = 100;

/// Looks for the order of placing that gives the least arena.
class ArenaSearch {
public:
  ArenaSearch(const std::vector<ArenaItem> &items, const ArenaConflicts &conflicts)
      : items(items), conflicts(conflicts), order(items.size()) {}

  /// The best of several orders, improved.
  ArenaPlan search(bool withMates) {
    mates = withMates;
    trySorted([&](size_t a, size_t b) { return items[a].bytes > items[b].bytes; });
    trySorted([&](size_t a, size_t b) {
      return std::pair(items[a].first, -items[a].last) < std::pair(items[b].first, -items[b].last);
    });
    trySorted([&](size_t a, size_t b) { return getArea(a) > getArea(b); });
    improve();
    return best;
  }

private:
  double getArea(size_t i) const {
    return static_cast<double>(items[i].bytes) *
           static_cast<double>(items[i].last - items[i].first + 1);
  }

  template <typename Less> void trySorted(Less less) {
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), less);
    tryOrder();
  }

  void tryOrder() {
    plan = ArenaPlacement(items, conflicts).place(order, mates);
    if (!bestOrder.empty() && plan.bytes >= best.bytes)
      return;
    best = plan;
    bestOrder = order;
  }

  /// What reaches highest chooses first.
  void improve() {
    const int64_t least = findPeak(items, conflicts).bytes;
    order = bestOrder;
    plan = best;
    for (int round = 0; round < kImprovements && best.bytes > least; ++round) {
      auto reachesTop = [&](size_t i) {
        return items[i].bytes > 0 && plan.offsets[i] + conflicts.getSize(i) == plan.bytes;
      };
      auto highest = std::find_if(order.begin(), order.end(), reachesTop);
      std::rotate(order.begin(), highest, highest + 1);
      tryOrder();
    }
  }

  const std::vector<ArenaItem> &items;
  const ArenaConflicts &conflicts;
  std::vector<size_t> order, bestOrder;
  ArenaPlan plan, best;
  bool mates = false;
};

inline ArenaPlan planArena(const std::vector<ArenaItem> &items,
                           const std::vector<Handover> &handovers = {}, int64_t alignment = 64) {
  ArenaConflicts conflicts(items, handovers, alignment);
  ArenaPlan apart = ArenaSearch(items, conflicts).search(/*withMates=*/false);
  if (handovers.empty())
    return apart;
  ArenaPlan together = ArenaSearch(items, conflicts).search(/*withMates=*/true);
  return together.bytes < apart.bytes ? together : apart;
}

} // namespace titan::support

#endif // TITAN_COMPILER_SUPPORT_ARENAPLANNER_H
