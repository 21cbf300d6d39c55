#include "base/weights/ShorterTensor.h"

#include <algorithm>
#include <numeric>

namespace titan {

static int64_t product(std::span<const int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

static std::vector<int64_t> rowMajorStrides(std::span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

static bool isComplete(const StoredParameter &stored) {
  int64_t elements = 1;
  for (size_t i = 0; i < stored.sizes.size(); ++i)
    elements *= stored.strides[i] ? stored.sizes[i] : 1;
  return stored.start == 0 && elements == product(stored.shape);
}

std::optional<StoredParameter> shorten(const StoredParameter &stored,
                                       std::span<const int64_t> shape) {
  if (shape.size() != stored.shape.size() || !isComplete(stored))
    return std::nullopt;
  const std::vector<int64_t> before = rowMajorStrides(stored.shape), after = rowMajorStrides(shape);
  StoredParameter shorter = stored;
  shorter.shape.assign(shape.begin(), shape.end());
  std::vector<bool> isReached(shape.size()); // by the outermost factor of the dimension
  for (size_t i = 0; i < stored.sizes.size(); ++i) {
    const int64_t stride = stored.strides[i];
    if (stride == 0 || stored.sizes[i] == 1)
      continue;
    size_t d = 0; // the dimension of the factor
    while (stride < before[d] || stride >= before[d] * stored.shape[d])
      ++d;
    const int64_t below = stride / before[d]; // indices of the dimension within one of the factor
    shorter.strides[i] = below * after[d];
    if (below * stored.sizes[i] != stored.shape[d])
      continue; // not outermost
    isReached[d] = true;
    shorter.sizes[i] = shape[d] / below;
    if (shape[d] > stored.shape[d] || shape[d] % below != 0)
      return std::nullopt;
  }
  for (size_t d = 0; d < shape.size(); ++d)
    if (!isReached[d] && shape[d] != stored.shape[d])
      return std::nullopt;
  return shorter;
}

void forEachCommonRun(std::span<const int64_t> sizes, std::span<const int64_t> common,
                      int64_t first, int64_t count,
                      const std::function<void(const CommonRun &)> &visit) {
  size_t last = sizes.size(); // the factor after the innermost shorter one
  while (last > 0 && sizes[last - 1] == common[last - 1])
    --last;
  if (last == 0)
    return visit({first, first, count});
  const int64_t inner = product(sizes.subspan(last));
  const int64_t row = sizes[last - 1] * inner, commonRow = common[last - 1] * inner;
  const auto outer = sizes.first(last - 1), commonOuter = common.first(last - 1);
  for (int64_t at = first; at < first + count;) {
    const int64_t number = at / row, end = std::min(first + count, (number + 1) * row);
    int64_t rest = number, storedRow = 0, scale = 1;
    bool isCommon = true;
    for (size_t i = outer.size(); i-- > 0; rest /= outer[i], scale *= commonOuter[i]) {
      isCommon = isCommon && rest % outer[i] < commonOuter[i];
      storedRow += rest % outer[i] * scale;
    }
    const int64_t within = at - number * row, commonEnd = std::min(end, number * row + commonRow);
    if (isCommon && at < commonEnd)
      visit({at, storedRow * commonRow + within, commonEnd - at});
    at = end;
  }
}

} // namespace titan
