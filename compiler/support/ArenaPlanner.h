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

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace titan::support {

struct ArenaItem {
  int64_t bytes;
  int64_t first, last;

  bool livesWith(const ArenaItem &other) const {
    return first <= other.last && other.first <= last;
  }
};

struct ArenaPlan {
  std::vector<int64_t> offsets; ///< one per item
  int64_t bytes = 0;            ///< what the arena must hold
};

/// Rounds up, so that every buffer starts on a cache line and vector loads are aligned.
constexpr int64_t alignTo(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// The most that lives at one event: no plan is smaller.
struct Peak {
  int64_t bytes = 0, event = 0; ///< the first event at which so much lives
};
inline Peak findPeak(const std::vector<ArenaItem> &items, int64_t alignment = 64) {
  std::map<int64_t, int64_t> changes;
  for (const ArenaItem &item : items) {
    changes[item.first] += alignTo(item.bytes, alignment);
    changes[item.last + 1] -= alignTo(item.bytes, alignment);
  }
  Peak peak;
  int64_t live = 0;
  for (auto [event, change] : changes)
    if ((live += change) > peak.bytes)
      peak = {live, event};
  return peak;
}

/// Places items in the given order, each as low as it can lie.
inline ArenaPlan placeInOrder(const std::vector<ArenaItem> &items, const std::vector<size_t> &order,
                              int64_t alignment = 64) {
  ArenaPlan plan;
  plan.offsets.assign(items.size(), 0);
  std::vector<size_t> placed; // by offset
  for (size_t i : order) {
    int64_t size = alignTo(items[i].bytes, alignment), offset = 0;
    if (size == 0)
      continue;
    for (size_t j : placed) {
      if (!items[i].livesWith(items[j]))
        continue;
      if (plan.offsets[j] - offset >= size)
        break;
      offset = std::max(offset, plan.offsets[j] + alignTo(items[j].bytes, alignment));
    }
    plan.offsets[i] = offset;
    plan.bytes = std::max(plan.bytes, offset + size);
    auto isLower = [&](size_t a, size_t b) { return plan.offsets[a] < plan.offsets[b]; };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i, isLower), i);
  }
  return plan;
}

/// How often an order is improved; far from all of it is needed where a plan can be had without
/// gaps.
inline constexpr int kImprovements = 100;

inline ArenaPlan planArena(const std::vector<ArenaItem> &items, int64_t alignment = 64) {
  auto bySize = [&](size_t a, size_t b) { return items[a].bytes > items[b].bytes; };
  auto byStart = [&](size_t a, size_t b) {
    return std::pair(items[a].first, -items[a].last) < std::pair(items[b].first, -items[b].last);
  };
  auto byArea = [&](size_t a, size_t b) {
    auto area = [&](size_t i) {
      return static_cast<double>(items[i].bytes) *
             static_cast<double>(items[i].last - items[i].first + 1);
    };
    return area(a) > area(b);
  };
  const int64_t least = findPeak(items, alignment).bytes;
  std::vector<size_t> order(items.size()), bestOrder;
  ArenaPlan plan, best;
  auto tryOrder = [&] {
    plan = placeInOrder(items, order, alignment);
    if (!bestOrder.empty() && plan.bytes >= best.bytes)
      return;
    best = plan;
    bestOrder = order;
  };
  auto trySorted = [&](auto less) {
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), less);
    tryOrder();
  };
  trySorted(bySize);
  trySorted(byStart);
  trySorted(byArea);
  order = bestOrder;
  plan = best;
  for (int round = 0; round < kImprovements && best.bytes > least; ++round) {
    auto reachesTop = [&](size_t i) {
      return items[i].bytes > 0 &&
             plan.offsets[i] + alignTo(items[i].bytes, alignment) == plan.bytes;
    };
    auto highest = std::find_if(order.begin(), order.end(), reachesTop);
    std::rotate(order.begin(), highest, highest + 1);
    tryOrder();
  }
  return best;
}

} // namespace titan::support

#endif // TITAN_COMPILER_SUPPORT_ARENAPLANNER_H
