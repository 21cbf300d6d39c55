#include "base/weights/StridedLayout.h"

#include <algorithm>
#include <charconv>

namespace titan {

/// Rows of the parameter that a transposing traversal visits together: a line of the cache holds as
/// many elements of a row.
constexpr int64_t rowsTogether = 32;

StridedLayout::StridedLayout(const StoredParameter &stored) : start(stored.start) {
  for (size_t i = stored.sizes.size(); i-- > 0;) {
    const int64_t size = stored.sizes[i], stride = stored.strides[i];
    elements *= size;
    const int64_t tensorStride = stride == 0 ? tensors : 0;
    tensors *= stride == 0 ? size : 1;
    if (size == 1)
      continue;
    if (!factors.empty() && stride > 0 && factors.front().stride * factors.front().size == stride)
      factors.front().size *= size;
    else
      factors.insert(factors.begin(), {size, stride, tensorStride});
  }
  if (factors.empty())
    factors.push_back({1, 1, 0});
  int64_t below = 1;
  for (auto factor = factors.rbegin(); factor != factors.rend(); below *= factor++->size)
    if (factor->stride == 1 && factor != factors.rbegin()) {
      columnStep = below;
      columnSize = factor->size;
    }
}

StridedLayout::Position StridedLayout::positionOf(int64_t element) const {
  Position position{0, start};
  for (auto factor = factors.rbegin(); factor != factors.rend(); element /= factor++->size) {
    const int64_t index = element % factor->size;
    position.tensor += index * factor->tensorStride;
    position.stored += index * factor->stride;
  }
  return position;
}

std::pair<int64_t, int64_t> StridedLayout::elementsOf(int64_t tensor) const {
  const auto firstStrided = std::find_if(factors.begin(), factors.end(), [](const Factor &factor) {
    return factor.tensorStride == 0;
  });
  const bool leads = std::all_of(firstStrided, factors.end(),
                                 [](const Factor &factor) { return factor.tensorStride == 0; });
  if (!leads)
    return {0, elements};
  const int64_t each = elements / tensors;
  return {tensor * each, (tensor + 1) * each};
}

/// Visits elements one innermost factor at a time.
void StridedLayout::visitRow(int64_t first, int64_t count,
                             const std::function<void(const StridedRun &)> &visit) const {
  const Factor &inner = factors.back();
  for (int64_t done = 0; done < count;) {
    const int64_t element = first + done;
    int64_t run = std::min(count - done, inner.size - element % inner.size);
    if (inner.tensorStride) // a tensor for each element
      run = 1;
    const Position at = positionOf(element);
    visit({at.tensor, element, 1, at.stored, inner.stride, run});
    done += run;
  }
}

/// Visits complete rows of `columnStep` elements, column by column.
void StridedLayout::visitRows(int64_t first, int64_t rows,
                              const std::function<void(const StridedRun &)> &visit) const {
  for (int64_t row = 0; row < rows;) {
    const int64_t element = first + row * columnStep;
    const int64_t left = columnSize - element / columnStep % columnSize;
    const int64_t together = std::min({rows - row, left, rowsTogether});
    for (int64_t column = 0; column < columnStep; ++column) {
      const Position at = positionOf(element + column);
      visit({at.tensor, element + column, columnStep, at.stored, 1, together});
    }
    row += together;
  }
}

void StridedLayout::forEachRun(int64_t first, int64_t count,
                               const std::function<void(const StridedRun &)> &visit) const {
  if (columnStep == 0)
    return visitRow(first, count, visit);
  const int64_t last = first + count;
  const int64_t begin = std::min(last, (first + columnStep - 1) / columnStep * columnStep);
  const int64_t end = std::max(begin, last / columnStep * columnStep);
  visitRow(first, begin - first, visit);
  visitRows(begin, (end - begin) / columnStep, visit);
  visitRow(end, last - end, visit);
}

/// The iterations, then the indices of the factors without a stride.
static std::vector<int64_t> indicesOf(const StoredParameter &stored,
                                      std::span<const int64_t> iterations, int64_t tensor) {
  std::vector<int64_t> inner;
  for (size_t i = stored.sizes.size(); i-- > 0;)
    if (stored.strides[i] == 0) {
      inner.insert(inner.begin(), tensor % stored.sizes[i]);
      tensor /= stored.sizes[i];
    }
  std::vector<int64_t> indices(iterations.begin(), iterations.end());
  indices.insert(indices.end(), inner.begin(), inner.end());
  return indices;
}

std::string nameOfTensor(const StoredParameter &stored, std::span<const int64_t> iterations,
                         int64_t tensor) {
  const std::vector<int64_t> indices = indicesOf(stored, iterations, tensor);
  std::string_view text = stored.tensor;
  std::string name;
  for (size_t open; (open = text.find('{')) != std::string_view::npos;) {
    const size_t close = text.find('}', open);
    const char *end = text.data() + close;
    size_t number = 0;
    int64_t offset = 0;
    auto [after, error] = std::from_chars(text.data() + open + 1, end, number);
    if (after != end)
      std::from_chars(after + 1, end, offset);
    name += text.substr(0, open);
    name += std::to_string(indices.at(number) + offset);
    text.remove_prefix(close + 1);
  }
  return name + std::string(text);
}

} // namespace titan
