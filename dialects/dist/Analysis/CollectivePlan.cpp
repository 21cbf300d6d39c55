// Plans the collectives that implement a reshard.

#include "dialects/dist/Analysis/CollectivePlan.h"
#include <algorithm>

using namespace titan::dist;

using Axes = std::vector<int>;

static bool contains(const Axes &axes, int axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

static bool isPrefix(const Axes &prefix, const Axes &list) {
  return prefix.size() <= list.size() && std::equal(prefix.begin(), prefix.end(), list.begin());
}

static size_t getCommonLength(const Axes &a, const Axes &b) {
  return std::mismatch(a.begin(), a.begin() + std::min(a.size(), b.size()), b.begin()).first -
         a.begin();
}

namespace {

class Planner {
public:
  Planner(ShardingByDim from, const ShardingByDim &to, bool flatNests)
      : now(std::move(from)), to(to), flatNests(flatNests) {}

  std::vector<CollectiveStep> run() {
    gatherFlat();
    while (gatherReordered())
      continue;
    takeOrders();
    while (now.dims != to.dims) {
      if (sliceDim() || moveDim() || scatterDim() || reduceFreeAxes())
        continue;
      gatherDim();
    }
    if (now.flat.empty())
      now.flatFrom = to.flatFrom;
    while (now.flat != to.flat)
      appendFlat();
    reduceFreeAxes();
    makePartial();
    return std::move(steps);
  }

private:
  void add(CollectiveStep::Kind kind, const Axes &axes) { steps.push_back({kind, axes, now}); }

  bool isUsed(int axis) const {
    return contains(now.flat, axis) || contains(now.partial, axis) ||
           std::any_of(now.dims.begin(), now.dims.end(),
                       [&](const Axes &axes) { return contains(axes, axis); });
  }

  /// The longest run of axes in `target` after the first `done` for which `holds` is true.
  template <typename Predicate> Axes takeRun(const Axes &target, size_t done, Predicate holds) {
    Axes run;
    for (size_t i = done; i < target.size() && holds(target[i]); ++i)
      run.push_back(target[i]);
    return run;
  }

  /// As takeRun, for the axes of a dimension: an axis in head-tail order is a separate run. Flat
  /// storage has no order.
  template <typename Predicate> Axes takeDimRun(const Axes &target, size_t done, Predicate holds) {
    Axes run = takeRun(target, done, holds);
    for (size_t i = 1; i < run.size(); ++i)
      if (isHeadTail(run[i]) || isHeadTail(run[i - 1]))
        run.resize(i);
    return run;
  }

  bool isHeadTail(int axis) const { return contains(now.headTail, axis); }

  void reduce(const Axes &axes) {
    std::erase_if(now.partial, [&](int axis) { return contains(axes, axis); });
  }

  /// Gathers the last axis of a dimension if the order of it, or of an axis before it that the
  /// target shards too, is another one in the target.
  bool gatherReordered() {
    for (size_t d = 0; d < now.dims.size(); ++d) {
      auto differs = [&](int axis) {
        return contains(now.headTail, axis) != contains(to.headTail, axis) &&
               std::any_of(to.dims.begin(), to.dims.end(),
                           [&](const Axes &axes) { return contains(axes, axis); });
      };
      if (std::none_of(now.dims[d].begin(), now.dims[d].end(), differs))
        continue;
      int axis = now.dims[d].back();
      now.dims[d].pop_back();
      std::erase(now.headTail, axis);
      add(CollectiveStep::AllGather, {axis});
      return true;
    }
    return false;
  }

  /// Axes that appear later have the order of the target.
  void takeOrders() {
    for (int axis : to.headTail)
      if (!contains(now.headTail, axis))
        now.headTail.push_back(axis);
    std::sort(now.headTail.begin(), now.headTail.end());
  }

  /// Flat storage depends on the axes of the dimensions, so it is gathered before they change.
  void gatherFlat() {
    bool keeps = now.dims == to.dims && now.flatFrom == to.flatFrom;
    bool keepsPrefix = keeps && (flatNests || now.flat == to.flat);
    size_t common = keepsPrefix ? getCommonLength(now.flat, to.flat) : 0;
    if (common == now.flat.size())
      return;
    Axes gone(now.flat.begin() + common, now.flat.end());
    now.flat.resize(common);
    if (now.flat.empty())
      now.flatFrom = 0;
    add(CollectiveStep::AllGather, gone);
  }

  /// Appends the next axes of some dimension's target that satisfy `holds`; empty if there are
  /// none.
  template <typename Predicate> Axes extendDim(Predicate holds) {
    for (size_t d = 0; d < now.dims.size(); ++d) {
      if (!isPrefix(now.dims[d], to.dims[d]))
        continue;
      Axes next = takeDimRun(to.dims[d], now.dims[d].size(), holds);
      if (next.empty())
        continue;
      now.dims[d].insert(now.dims[d].end(), next.begin(), next.end());
      return next;
    }
    return {};
  }

  bool sliceDim() {
    Axes axes = extendDim([&](int axis) { return !isUsed(axis); });
    if (!axes.empty())
      add(CollectiveStep::LocalSlice, axes);
    return !axes.empty();
  }

  bool scatterDim() {
    Axes axes = extendDim([&](int axis) { return contains(now.partial, axis); });
    if (axes.empty())
      return false;
    reduce(axes);
    add(CollectiveStep::ReduceScatter, axes);
    return true;
  }

  /// Moves the last axis of one dimension to another dimension whose target continues with it.
  bool moveDim() {
    for (size_t from = 0; from < now.dims.size(); ++from) {
      if (isPrefix(now.dims[from], to.dims[from]))
        continue;
      int axis = now.dims[from].back();
      if (isHeadTail(axis))
        continue; // the order of messages would differ from that of blocks
      for (size_t d = 0; d < now.dims.size(); ++d) {
        if (d == from || !isPrefix(now.dims[d], to.dims[d]) ||
            now.dims[d].size() == to.dims[d].size() || to.dims[d][now.dims[d].size()] != axis)
          continue;
        now.dims[from].pop_back();
        now.dims[d].push_back(axis);
        add(CollectiveStep::AllToAll, {axis});
        return true;
      }
    }
    return false;
  }

  /// All-reduces the axes that the target neither shards nor keeps partial.
  bool reduceFreeAxes() {
    Axes axes;
    for (int axis : now.partial) {
      bool isNeeded = contains(to.partial, axis) || contains(to.flat, axis) ||
                      std::any_of(to.dims.begin(), to.dims.end(),
                                  [&](const Axes &d) { return contains(d, axis); });
      if (!isNeeded)
        axes.push_back(axis);
    }
    if (axes.empty())
      return false;
    std::sort(axes.begin(), axes.end());
    reduce(axes);
    add(CollectiveStep::AllReduce, axes);
    return true;
  }

  /// Whether the target of some dimension continues with `axis`, so that the axis can move there.
  bool isAwaited(int axis) const {
    for (size_t d = 0; d < now.dims.size(); ++d)
      if (isPrefix(now.dims[d], to.dims[d]) && now.dims[d].size() < to.dims[d].size() &&
          to.dims[d][now.dims[d].size()] == axis)
        return true;
    return false;
  }

  void gatherDim() {
    for (size_t d = 0; d < now.dims.size(); ++d) {
      size_t common = getCommonLength(now.dims[d], to.dims[d]);
      if (common == now.dims[d].size())
        continue;
      size_t left = now.dims[d].size() - 1;
      while (left > common && !isAwaited(now.dims[d][left - 1]) && !isHeadTail(now.dims[d][left]) &&
             !isHeadTail(now.dims[d][left - 1]))
        --left;
      Axes gone(now.dims[d].begin() + left, now.dims[d].end());
      now.dims[d].resize(left);
      add(CollectiveStep::AllGather, gone);
      return;
    }
  }

  void appendFlat() {
    if (!flatNests)
      reduceUnlessAll(to.flat);
    size_t done = now.flat.size();
    Axes axes = takeRun(to.flat, done, [&](int axis) { return contains(now.partial, axis); });
    bool isReduction = !axes.empty();
    if (!isReduction)
      axes = takeRun(to.flat, done, [&](int axis) { return !isUsed(axis); });
    now.flat.insert(now.flat.end(), axes.begin(), axes.end());
    now.flatFrom = to.flatFrom;
    reduce(axes);
    add(isReduction ? CollectiveStep::ReduceScatter : CollectiveStep::LocalSlice, axes);
  }

  /// All-reduces the partial ones among `axes`, unless all are partial and one step scatters them.
  void reduceUnlessAll(const Axes &axes) {
    Axes partial;
    for (int axis : axes)
      if (contains(now.partial, axis))
        partial.push_back(axis);
    if (partial.empty() || partial.size() == axes.size())
      return;
    reduce(partial);
    add(CollectiveStep::AllReduce, partial);
  }

  void makePartial() {
    Axes axes;
    for (int axis : to.partial)
      if (!contains(now.partial, axis))
        axes.push_back(axis);
    if (axes.empty())
      return;
    now.partial.insert(now.partial.end(), axes.begin(), axes.end());
    std::sort(now.partial.begin(), now.partial.end());
    add(CollectiveStep::MakePartial, axes);
  }

  ShardingByDim now; ///< after the steps so far
  const ShardingByDim &to;
  bool flatNests;
  std::vector<CollectiveStep> steps;
};

} // namespace

std::vector<CollectiveStep> titan::dist::planCollectives(ShardingByDim from,
                                                         const ShardingByDim &to, bool flatNests) {
  return Planner(std::move(from), to, flatNests).run();
}
