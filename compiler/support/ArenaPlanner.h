//===- ArenaPlanner.h - Offsets for buffers with lifetimes ------*- C++ -*-===//
//
// Packs buffers whose lifetimes are known into one arena. Plain data without MLIR, because two
// parties plan: the compiler, to say how much a program needs, and the runtime, at start-up, since
// with `auto` degrees the sizes are known only then.
//
// Finding the least arena is NP-hard (it is dynamic storage allocation), so buffers are placed
// greedily, each at the lowest offset where nothing that lives at the same time lies (after
// Pisarchyk and Lee, arXiv 2001.03288, "greedy by size"), in three orders; the smallest result
// counts.
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
  std::vector<size_t> placed;
  for (size_t i : order) {
    int64_t size = alignTo(items[i].bytes, alignment);
    if (size == 0)
      continue;
    std::vector<std::pair<int64_t, int64_t>> taken;
    for (size_t j : placed)
      if (items[i].livesWith(items[j]))
        taken.push_back({plan.offsets[j], plan.offsets[j] + alignTo(items[j].bytes, alignment)});
    std::sort(taken.begin(), taken.end());
    int64_t offset = 0;
    for (auto [from, to] : taken) {
      if (from - offset >= size)
        break;
      offset = std::max(offset, to);
    }
    plan.offsets[i] = offset;
    plan.bytes = std::max(plan.bytes, offset + size);
    placed.push_back(i);
  }
  return plan;
}

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
  std::vector<size_t> order(items.size());
  ArenaPlan best;
  auto tryOrder = [&](auto less, bool isFirst) {
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), less);
    ArenaPlan plan = placeInOrder(items, order, alignment);
    if (isFirst || plan.bytes < best.bytes)
      best = std::move(plan);
  };
  tryOrder(bySize, true);
  tryOrder(byStart, false);
  tryOrder(byArea, false);
  return best;
}

} // namespace titan::support

#endif // TITAN_COMPILER_SUPPORT_ARENAPLANNER_H
