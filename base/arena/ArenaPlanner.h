//===- ArenaPlanner.h - Offsets for buffers with lifetimes ------*- C++ -*-===//
//
// Packs buffers whose lifetimes are known into one arena. Plain data without MLIR, because two
// parties plan: the compiler, to say how much a program needs, and the runtime, at start-up, since
// with `auto` degrees the sizes are known only then.
//
// Finding the least arena is NP-hard (it is dynamic storage allocation), so buffers are placed
// greedily by several orders (Pisarchyk and Lee, arXiv 2001.03288), and each of these is then
// improved step by step, for about a tenth of a second where much could be gained. Published
// searches for accelerators go further (TelaMalloc, ASPLOS 2023; MiniMalloc, ASPLOS 2023) and take
// as long as it takes; what is left here is a few percent.
//
// Sizes are in bytes, lifetimes in events of a linear order, both ends included. Buffers of no size
// get offset 0.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_BASE_ARENA_ARENAPLANNER_H
#define TITAN_BASE_ARENA_ARENAPLANNER_H

#include "base/arena/ArenaPlacement.h"

#include <map>
#include <numeric>
#include <vector>

namespace titan::arena {

/// The most that lives at one event, where partners share what they can: no plan without
/// stackOverlaps is smaller.
struct Peak {
  int64_t bytes = 0, event = 0; ///< the first event at which so much lives
  int64_t shared = 0; ///< what partners have in common at that event, counted once in `bytes`
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

/// Places items in the given order, as if there were no stackOverlaps.
inline ArenaPlan placeInOrder(const std::vector<ArenaItem> &items, const std::vector<size_t> &order,
                              int64_t alignment = kArenaAlignment) {
  ArenaConflicts conflicts(items, {}, alignment);
  ArenaPlacement placement(items, conflicts);
  placement.place(order, /*withPartners=*/false);
  return placement.getPlan();
}

/// Looks for the order of placing that gives the least arena.
class ArenaSearch {
public:
  ArenaSearch(const std::vector<ArenaItem> &items, const ArenaConflicts &conflicts)
      : items(items), conflicts(conflicts), placement(items, conflicts),
        lowerBound(findPeak(items, conflicts).bytes) {}

  /// The best of several orders, improved.
  ArenaPlan search(bool withPartners) {
    partners = withPartners;
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

  double getArea(size_t i) const {
    return static_cast<double>(items[i].bytes) *
           static_cast<double>(items[i].last - items[i].first + 1);
  }

  template <typename Less> Candidate sorted(Less less) {
    std::vector<size_t> order(items.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), less);
    placement.place(order, partners);
    keepIfBetter({order, placement.getPlan()});
    return {order, placement.getPlan()};
  }

  void keepIfBetter(const Candidate &candidate) {
    if (best.order.empty() || candidate.plan.bytes < best.plan.bytes)
      best = candidate;
  }

  /// Changes the order step by step and keeps every change that costs nothing: plateaus are wide,
  /// and their ends are what is looked for.
  void improve(Candidate candidate) {
    // What is small goes where there is room, whatever the order.
    auto large =
        std::stable_partition(candidate.order.begin(), candidate.order.end(), [&](size_t i) {
          return conflicts.getSize(i) >= lowerBound / kLargeFraction;
        });
    const auto count = static_cast<size_t>(large - candidate.order.begin());
    if (count < 2 || best.plan.bytes <= lowerBound)
      return;
    placement.place(candidate.order, partners);
    candidate.plan = placement.getPlan();
    std::vector<size_t> order;
    const auto most = static_cast<int64_t>(kMaxPairChecks / (items.size() * items.size() + 1));
    const int64_t rounds =
        std::min(most, kMinRounds + (candidate.plan.bytes - lowerBound) / kBytesPerRound);
    for (int64_t round = 0; round < rounds && candidate.plan.bytes > lowerBound; ++round) {
      order = candidate.order;
      if (round % 2 == 0)
        std::swap(order[draw(count)], order[draw(count)]);
      else
        advanceHighest(order, count, candidate.plan);
      if (placement.place(order, partners, candidate.plan.bytes))
        candidate = {order, placement.getPlan()};
    }
    keepIfBetter(candidate);
  }

  /// Something that reaches highest chooses sooner.
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

  /// A number below `count`, the same ones in every search (G. Marsaglia, "Xorshift RNGs", 2003):
  /// compiler and runtime must come to one plan.
  size_t draw(size_t count) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<size_t>(state % count);
  }

  /// Most orders that are tried from one start, times the square of the number of items, which is
  /// about what one costs: some hundredths of a second.
  static constexpr size_t kMaxPairChecks = 20'000'000;
  /// Orders that are tried in any case, and bytes that are worth another one.
  static constexpr int64_t kMinRounds = 100, kBytesPerRound = 1024;
  /// What is large: a thousandth of all.
  static constexpr int64_t kLargeFraction = 1000;

  const std::vector<ArenaItem> &items;
  const ArenaConflicts &conflicts;
  ArenaPlacement placement;
  const int64_t lowerBound;
  Candidate best;
  uint64_t state = 88172645463325252;
  bool partners = false;
};

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

#endif // TITAN_BASE_ARENA_ARENAPLANNER_H
