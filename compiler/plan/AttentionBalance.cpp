#include "compiler/plan/AttentionBalance.h"

#include <algorithm>
#include <numeric>

using namespace mlir;

namespace titan::plan {

/// The sum of min(i + 1, limit) for 0 <= i < count.
static int64_t sumRamp(int64_t count, int64_t limit) {
  const int64_t rising = std::min(count, limit);
  return rising * (rising + 1) / 2 + (count - rising) * limit;
}

/// The pairs of visible key and query, for the queries before `position`, of `keys` keys.
static int64_t countPairsBefore(ir::AttentionOp attention, int64_t position, int64_t keys) {
  const int64_t window = attention.getWindow().value_or(keys);
  const int64_t notAfter = sumRamp(position, window); // keys at the query or before it
  if (attention.getCausal())
    return notAfter;
  const int64_t notBefore = sumRamp(keys, window) - sumRamp(keys - position, window);
  return notAfter + notBefore - position;
}

/// Per rank along the axes of the positions, the pairs of query and visible key.
static std::vector<int64_t> countPairs(ir::AttentionOp attention, const dist::Degrees &degrees) {
  ir::NamedTensorType type = attention.getQuery().getType();
  int64_t dim = type.findDimIndex(attention.getAlongAttr()), keys = type.getDims()[dim].getSize();
  ArrayAttr axes = type.getSharding().getDimAxes()[dim];
  std::vector<int64_t> pairs(dist::getDegreeProduct(axes, degrees), 0);
  for (size_t rank = 0; rank < pairs.size(); ++rank) {
    llvm::StringMap<int64_t> coordinates;
    int64_t rest = static_cast<int64_t>(rank);
    for (auto axis : axes.getAsRange<StringAttr>())
      coordinates[axis] = rest % degrees.lookup(axis), rest /= degrees.lookup(axis);
    DimShard shard = getShard(dist::getTensorSharding(type, degrees, [&](StringRef axis) {
                                return coordinates.lookup(axis);
                              }).dims[dim]);
    auto countBetween = [&](int64_t begin, int64_t end) {
      return countPairsBefore(attention, end, keys) - countPairsBefore(attention, begin, keys);
    };
    const int64_t second = shard.start + shard.split + shard.gap;
    pairs[rank] = countBetween(shard.start, shard.start + shard.split) +
                  countBetween(second, second + shard.length - shard.split);
  }
  return pairs;
}

std::vector<AttentionBalance> reportAttentionBalance(FunctionOpInterface function,
                                                     const dist::Degrees &degrees) {
  std::vector<AttentionBalance> found;
  function.walk([&](ir::AttentionOp attention) {
    ir::NamedTensorType type = attention.getQuery().getType();
    AttentionBalance entry{dist::getSourceValue(attention.getLoc()), {}, 1};
    for (auto axis : type.getSharding()
                         .getDimAxes()[type.findDimIndex(attention.getAlongAttr())]
                         .getAsRange<StringAttr>())
      entry.axes.push_back(axis.str());
    // All steps of a ring are one entry: that of the last step, which is outside of the loop.
    if (entry.axes.empty() || isa_and_nonnull<BlockArgument>(attention.getRingStep()))
      return;
    std::vector<int64_t> pairs = countPairs(attention, degrees);
    double sum = std::accumulate(pairs.begin(), pairs.end(), 0.0);
    entry.balance = *std::max_element(pairs.begin(), pairs.end()) * double(pairs.size()) / sum;
    found.push_back(std::move(entry));
  });
  return found;
}

} // namespace titan::plan
