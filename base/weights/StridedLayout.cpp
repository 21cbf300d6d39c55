#include "base/weights/StridedLayout.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace titan {

/// The most elements of a segment without columns, and rows of one with columns: work for a thread.
constexpr int64_t segmentElements = int64_t{1} << 18, segmentRows = 4096;

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

StridedLayout::Position StridedLayout::getPosition(int64_t element) const {
  Position position{0, start};
  for (auto factor = factors.rbegin(); factor != factors.rend(); element /= factor++->size) {
    const int64_t index = element % factor->size;
    position.tensor += index * factor->tensorStride;
    position.stored += index * factor->stride;
  }
  return position;
}

std::pair<int64_t, int64_t> StridedLayout::getElementRange(int64_t tensor) const {
  const auto firstStrided = std::find_if(factors.begin(), factors.end(), [](const Factor &factor) {
    return factor.tensorStride == 0;
  });
  const bool leads = std::all_of(firstStrided, factors.end(),
                                 [](const Factor &factor) { return factor.tensorStride == 0; });
  if (!leads)
    return {0, elements};
  const int64_t elementsPerTensor = elements / tensors;
  return {tensor * elementsPerTensor, (tensor + 1) * elementsPerTensor};
}

/// Whether the rows follow one another in the stored tensor, and so do the elements of a column.
bool StridedLayout::haveColumns(const ElementRows &rows) const {
  return columnStep > 0 && rows.pitch == columnStep &&
         rows.first % columnStep + rows.columns <= columnStep;
}

void StridedLayout::forEachSegment(const ElementRows &rows, const VisitRows &visit) const {
  if (haveColumns(rows))
    return cutColumns(rows, visit);
  for (int64_t i = 0; i < rows.rows; ++i)
    cutRow({.first = rows.first + i * rows.pitch,
            .columns = rows.columns,
            .local = rows.local + i * rows.localPitch},
           visit);
}

/// Separates the range of complete rows of `columnStep` elements.
void StridedLayout::cutRow(const ElementRows &row, const VisitRows &visit) const {
  const int64_t first = row.first, last = first + row.columns;
  auto cut = [&](int64_t from, int64_t to) {
    for (; from < to; from += segmentElements)
      visit({.first = from,
             .columns = std::min(segmentElements, to - from),
             .local = row.local + from - first});
  };
  if (columnStep == 0)
    return cut(first, last);
  const int64_t begin = std::min(last, (first + columnStep - 1) / columnStep * columnStep);
  const int64_t end = std::max(begin, last / columnStep * columnStep);
  cut(first, begin);
  if (begin < end)
    cutColumns({begin, columnStep, (end - begin) / columnStep, columnStep,
                row.local + begin - first, columnStep},
               visit);
  cut(end, last);
}

/// The rows of a segment are in one period of the factor along which the stored tensor advances.
void StridedLayout::cutColumns(const ElementRows &rows, const VisitRows &visit) const {
  for (int64_t row = 0; row < rows.rows;) {
    const int64_t first = rows.first + row * rows.pitch;
    const int64_t left = columnSize - first / columnStep % columnSize;
    const int64_t together = std::min({rows.rows - row, left, segmentRows});
    const int64_t local = rows.local + row * rows.localPitch;
    for (int64_t column = 0; column < rows.columns; column += maxColumns)
      visit({first + column, std::min(maxColumns, rows.columns - column), together, rows.pitch,
             local + column, rows.localPitch});
    row += together;
  }
}

void StridedLayout::forEachBlock(const ElementRows &rows, const VisitBlock &visit) const {
  forEachSegment(rows, [&](const ElementRows &segment) {
    if (haveColumns(segment))
      visitColumns(segment, visit);
    else
      visitRow(segment, visit);
  });
}

/// Visits the elements of one row one innermost factor at a time.
void StridedLayout::visitRow(const ElementRows &row, const VisitBlock &visit) const {
  static constexpr int64_t onlyColumn[] = {0};
  const Factor &inner = factors.back();
  for (int64_t done = 0; done < row.columns;) {
    const int64_t element = row.first + done;
    int64_t run = std::min(row.columns - done, inner.size - element % inner.size);
    if (inner.tensorStride) // a tensor for each element
      run = 1;
    const Position at = getPosition(element);
    visit({at.tensor, row.local + done, 1, at.stored, inner.stride, onlyColumn, run});
    done += run;
  }
}

/// Visits a segment with columns, as many at once as are in one stored tensor.
void StridedLayout::visitColumns(const ElementRows &segment, const VisitBlock &visit) const {
  std::array<int64_t, maxColumns> columns;
  for (int64_t column = 0; column < segment.columns;) {
    const Position begin = getPosition(segment.first + column);
    size_t width = 0;
    for (Position at = begin; at.tensor == begin.tensor;) {
      columns[width++] = at.stored - begin.stored;
      const auto next = column + static_cast<int64_t>(width);
      if (next == segment.columns)
        break;
      at = getPosition(segment.first + next);
    }
    visit({begin.tensor, segment.local + column, segment.localPitch, begin.stored, 1,
           std::span(columns.data(), width), segment.rows});
    column += static_cast<int64_t>(width);
  }
}

/// The iterations, then the indices of the factors without a stride.
static std::vector<int64_t> computeIndices(const StoredParameter &stored,
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

std::string makeTensorName(const StoredParameter &stored, std::span<const int64_t> iterations,
                           int64_t tensor) {
  const std::vector<int64_t> indices = computeIndices(stored, iterations, tensor);
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
