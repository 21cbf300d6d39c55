// Offsets for allocations with live ranges.
//
// Packs allocations with known live ranges into one arena. Plain data without MLIR, because the
// compiler and the runtime plan: the compiler to report the memory of a program, and the runtime at
// start-up, because sizes under `auto` degrees are known only then.
//
// Finding the smallest arena is NP-hard (dynamic storage allocation). The planner therefore places
// allocations greedily in several orders (Pisarchyk and Lee, arXiv 2001.03288) and improves each
// order by local search. The search takes about a tenth of a second for plans with large gaps.
// Published searches for accelerators are unbounded in time (TelaMalloc, ASPLOS 2023; MiniMalloc,
// ASPLOS 2023); they could gain a few percent.
//
// Sizes are in bytes. Live ranges are inclusive ranges of events. Allocations of size 0 get offset
// 0.
#pragma once

#include "base/arena/ArenaPlacement.h"

#include <map>
#include <numeric>
#include <vector>

namespace titan::arena {

/// The event with the most live bytes, where partners share as much as they can. A lower bound of
/// the arena if there are no stack overlaps.
struct Peak {
  int64_t bytes = 0, event = 0; ///< the first such event
  int64_t shared = 0; ///< the bytes that partners share at that event; `bytes` counts them once
};
inline Peak findPeak(const std::vector<ArenaItem> &items, const ArenaConflicts &conflicts) {
  std::map<int64_t, std::pair<int64_t, int64_t>> changes; // of live bytes and of shared bytes
  auto change = [&](int64_t first, int64_t last, int64_t bytes, int64_t shared) {
    for (auto [event, sign] : {std::pair(first, 1), std::pair(last + 1, -1)}) {
      changes[event].first += sign * bytes;
      changes[event].second += sign * shared;
    }
  };
  for (size_t i = 0; i < items.size(); ++i) {
    change(items[i].first, items[i].last, conflicts.getSize(i), 0);
    if (size_t partner = conflicts.getPartner(i).item; conflicts.hasPartner(i) && partner > i)
      change(std::max(items[i].first, items[partner].first),
             std::min(items[i].last, items[partner].last), -conflicts.getShared(i),
             conflicts.getShared(i));
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
                     const std::vector<StackOverlap> &stackOverlaps = {},
                     int64_t alignment = kArenaAlignment) {
  return findPeak(items, ArenaConflicts(items, stackOverlaps, alignment));
}

/// Places items in the given order without stack overlaps.
inline ArenaPlan placeInOrder(const std::vector<ArenaItem> &items, const std::vector<size_t> &order,
                              int64_t alignment = kArenaAlignment) {
  ArenaConflicts conflicts(items, {}, alignment);
  ArenaPlacement placement(items, conflicts);
  placement.place(order, /*withPartners=*/false);
  return placement.getPlan();
}

/// Searches for the placement order with the smallest arena.
class ArenaSearch {
public:
  ArenaSearch(const std::vector<ArenaItem> &items, const ArenaConflicts &conflicts)
      : items(items), conflicts(conflicts), placement(items, conflicts),
        lowerBound(findPeak(items, conflicts).bytes) {}

  /// The best of several start orders after local search.
  ArenaPlan search(bool withPartners) {
    usesPartners = withPartners;
    best = {};
    const Candidate starts[] = {
        sorted([&](size_t a, size_t b) { return items[a].bytes > items[b].bytes; }),
        sorted([&](size_t a, size_t b) {
          return std::pair(items[a].first, -items[a].last) <
                 std::pair(items[b].first, -items[b].last);
        }),
        sorted([&](size_t a, size_t b) { return getArea(a) > getArea(b); })};
    for (const Candidate &start : starts)
      improve(start);
    return best.plan;
  }

private:
  struct Candidate {
    std::vector<size_t> order;
    ArenaPlan plan;
  };

  /// Bytes times events.
  double getArea(size_t i) const {
    return static_cast<double>(items[i].bytes) *
           static_cast<double>(items[i].last - items[i].first + 1);
  }

  /// The plan of the items in the order of `less`, without local search.
  template <typename Less> Candidate sorted(Less less) {
    std::vector<size_t> order(items.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), less);
    placement.place(order, usesPartners);
    keepIfBetter({order, placement.getPlan()});
    return {order, placement.getPlan()};
  }

  void keepIfBetter(const Candidate &candidate) {
    if (best.order.empty() || candidate.plan.bytes < best.plan.bytes)
      best = candidate;
  }

  /// Local search over orders: accepts every change that does not increase the arena, because
  /// plateaus are wide and improvements are at their ends.
  void improve(Candidate candidate) {
    // The order of small items does not matter: they fit into gaps.
    auto large =
        std::stable_partition(candidate.order.begin(), candidate.order.end(), [&](size_t i) {
          return conflicts.getSize(i) >= lowerBound / kLargeFraction;
        });
    const auto count = static_cast<size_t>(large - candidate.order.begin());
    if (count < 2 || best.plan.bytes <= lowerBound)
      return;
    placement.place(candidate.order, usesPartners);
    candidate.plan = placement.getPlan();
    std::vector<size_t> order;
    const auto maxRounds = static_cast<int64_t>(kMaxPairChecks / (items.size() * items.size() + 1));
    const int64_t rounds =
        std::min(maxRounds, kMinRounds + (candidate.plan.bytes - lowerBound) / kBytesPerRound);
    for (int64_t round = 0; round < rounds && candidate.plan.bytes > lowerBound; ++round) {
      order = candidate.order;
      if (round % 2 == 0)
        std::swap(order[draw(count)], order[draw(count)]);
      else
        advanceHighest(order, count, candidate.plan);
      if (placement.place(order, usesPartners, candidate.plan.bytes))
        candidate = {order, placement.getPlan()};
    }
    keepIfBetter(candidate);
  }

  /// Moves one of the items that end at the top of the arena to an earlier position.
  void advanceHighest(std::vector<size_t> &order, size_t count, const ArenaPlan &plan) {
    const size_t from = draw(count);
    for (size_t step = 0; step < count; ++step) {
      auto at = order.begin() + static_cast<int64_t>((from + step) % count);
      if (plan.offsets[*at] + conflicts.getSize(*at) == plan.bytes) {
        const auto sooner = static_cast<int64_t>(draw(static_cast<size_t>(at - order.begin()) + 1));
        std::rotate(order.begin() + sooner, at, at + 1);
        return;
      }
    }
  }

  /// A pseudo-random number below `count` (G. Marsaglia, "Xorshift RNGs", 2003). The sequence is
  /// the same in every search, because compiler and runtime must compute the same plan.
  size_t draw(size_t count) {
    randomState ^= randomState << 13;
    randomState ^= randomState >> 7;
    randomState ^= randomState << 17;
    return static_cast<size_t>(randomState % count);
  }

  /// Bounds the rounds per start order: their number times the square of the number of items, which
  /// is about the cost of one placement. The bound is a few hundredths of a second.
  static constexpr size_t kMaxPairChecks = 20'000'000;
  /// The minimum number of rounds, and the excess bytes per further round.
  static constexpr int64_t kMinRounds = 100, kBytesPerRound = 1024;
  /// An item is large if it has at least 1 / kLargeFraction of the lower bound.
  static constexpr int64_t kLargeFraction = 1000;

  const std::vector<ArenaItem> &items;
  const ArenaConflicts &conflicts;
  ArenaPlacement placement;
  const int64_t lowerBound;
  Candidate best;
  uint64_t randomState = 88172645463325252;
  bool usesPartners = false; ///< `withPartners` of the current search
};

/// The smallest arena that the searches with and without stack overlaps find.
inline ArenaPlan planArena(const std::vector<ArenaItem> &items,
                           const std::vector<StackOverlap> &stackOverlaps = {},
                           int64_t alignment = kArenaAlignment) {
  ArenaConflicts conflicts(items, stackOverlaps, alignment);
  ArenaPlan disjoint = ArenaSearch(items, conflicts).search(/*withPartners=*/false);
  if (stackOverlaps.empty())
    return disjoint;
  ArenaPlan overlapping = ArenaSearch(items, conflicts).search(/*withPartners=*/true);
  return overlapping.bytes < disjoint.bytes ? overlapping : disjoint;
}

} // namespace titan::arena
