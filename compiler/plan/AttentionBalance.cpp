#include "compiler/plan/AttentionBalance.h"

#include <algorithm>
#include <numeric>

using namespace mlir;

namespace titan::plan {

/// The keys that the query at `position` attends to, of `keys`.
static int64_t countVisible(ir::AttentionOp attention, int64_t position, int64_t keys) {
  std::optional<int64_t> window = attention.getWindow();
  int64_t begin = window ? std::max<int64_t>(0, position - *window + 1) : 0;
  int64_t end = attention.getCausal() ? position + 1
                : window              ? std::min(keys, position + *window)
                                      : keys;
  return end - begin;
}

/// Per rank along the axes of the positions, the pairs of query and visible key.
static std::vector<int64_t> countPairs(ir::AttentionOp attention, const dist::Degrees &degrees) {
  ir::NamedTensorType type = attention.getQuery().getType();
  int64_t dim = type.indexOf(attention.getAlongAttr()), keys = type.getDims()[dim].getSize();
  ArrayAttr axes = type.getSharding().getDimAxes()[dim];
  std::vector<int64_t> pairs(dist::getDegreeProduct(axes, degrees), 0);
  for (size_t rank = 0; rank < pairs.size(); ++rank) {
    llvm::StringMap<int64_t> coordinates;
    int64_t rest = static_cast<int64_t>(rank);
    for (auto axis : axes.getAsRange<StringAttr>())
      coordinates[axis] = rest % degrees.lookup(axis), rest /= degrees.lookup(axis);
    DimShard shard = shardOf(dist::getTensorSharding(type, degrees, [&](StringRef axis) {
                               return coordinates.lookup(axis);
                             }).dims[dim]);
    for (int64_t i = 0; i < shard.length; ++i)
      pairs[rank] += countVisible(attention, shard.toGlobal(i), keys);
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
                         .getDimAxes()[type.indexOf(attention.getAlongAttr())]
                         .getAsRange<StringAttr>())
      entry.axes.push_back(axis.str());
    // All steps of a ring are one entry: that of the last step, which is apart from the loop.
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
