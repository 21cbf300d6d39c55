#include "base/layout/Topology.h"

#include <algorithm>
#include <numeric>

namespace titan {

std::vector<bool> findAxesAcrossNodes(const std::vector<int64_t> &degrees, int64_t ranksPerNode) {
  std::vector<bool> across(degrees.size());
  int64_t extent = 1; // consecutive ranks that an axis and all inner ones connect
  for (size_t i = degrees.size(); i-- > 0;) {
    extent *= degrees[i];
    across[i] = degrees[i] > 1 && ranksPerNode % extent != 0;
  }
  return across;
}

/// The axes within a node if those with most traffic are innermost.
static std::vector<bool> chooseInner(const std::vector<AxisTraffic> &axes, int64_t ranksPerNode) {
  std::vector<size_t> byTraffic(axes.size());
  std::iota(byTraffic.rbegin(), byTraffic.rend(), size_t(0)); // of equal ones, the inner first
  std::stable_sort(byTraffic.begin(), byTraffic.end(),
                   [&](size_t a, size_t b) { return axes[a].bytes > axes[b].bytes; });
  std::vector<bool> inner(axes.size());
  int64_t ranks = 1;
  for (size_t i : byTraffic) {
    ranks *= axes[i].degree;
    if (ranksPerNode % ranks != 0)
      break;
    inner[i] = true;
  }
  return inner;
}

std::optional<std::vector<size_t>> findBetterOrder(const std::vector<AxisTraffic> &axes,
                                                   int64_t ranksPerNode) {
  std::vector<int64_t> degrees;
  for (const AxisTraffic &axis : axes)
    degrees.push_back(axis.degree);
  const std::vector<bool> across = findAxesAcrossNodes(degrees, ranksPerNode);
  const std::vector<bool> inner = chooseInner(axes, ranksPerNode);
  int64_t saved = 0;
  for (size_t i = 0; i < axes.size(); ++i)
    saved += axes[i].bytes * (int64_t(across[i]) - int64_t(!inner[i]));
  if (saved <= 0)
    return std::nullopt;
  std::vector<size_t> order(axes.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_partition(order.begin(), order.end(), [&](size_t i) { return !inner[i]; });
  return order;
}

} // namespace titan
