// The layout of a parameter in stored tensors: which element of which tensor is element i of one
// iteration of the parameter. Plain data, no files.
#pragma once

#include "base/weights/WeightMap.h"

#include <functional>
#include <span>

namespace titan {

/// Rows of `columns` consecutive elements of a parameter: row i begins with element
/// `first + i * pitch` of the parameter, and with element `local + i * localPitch` of the memory
/// that is read or written.
struct ElementRows {
  int64_t first, columns;
  int64_t rows = 1, pitch = 0;
  int64_t local = 0, localPitch = 0;
};

/// A set of columns that are copied between memory and a stored tensor. Element i < count of column
/// j is element `local + i * localStride + j` of the memory of the rows, and element `stored +
/// columns[j] + i * storedStride` of the stored tensor. One of the strides is 1; several columns
/// have the stored stride 1.
struct StridedBlock {
  int64_t tensor; ///< the number of the stored tensor: its name indices, row-major
  int64_t local, localStride;
  int64_t stored, storedStride;
  std::span<const int64_t> columns;
  int64_t count;
};

class StridedLayout {
public:
  static constexpr int64_t maxColumns = 512; ///< of a block

  explicit StridedLayout(const StoredParameter &stored);

  /// The number of stored tensors that one iteration of the parameter consists of.
  int64_t countTensors() const { return tensors; }
  /// A range of elements that contains all elements of one stored tensor, and no others if the
  /// factors that select the tensor precede the strided ones.
  std::pair<int64_t, int64_t> getElementRange(int64_t tensor) const;
  /// Cuts rows into segments for threads. Segments of a transposed layout read few stored rows, but
  /// complete ones.
  void forEachSegment(const ElementRows &rows,
                      const std::function<void(const ElementRows &)> &visit) const;
  /// Visits all elements of some rows. Where neighbours in the parameter are not neighbours in the
  /// stored tensor, blocks have several columns if possible.
  void forEachBlock(const ElementRows &rows,
                    const std::function<void(const StridedBlock &)> &visit) const;

private:
  /// A factor of the parameter; `tensorStride` counts stored tensors.
  struct Factor {
    int64_t size, stride, tensorStride;
  };
  struct Position {
    int64_t tensor, stored;
  };
  using VisitRows = std::function<void(const ElementRows &)>;
  using VisitBlock = std::function<void(const StridedBlock &)>;

  Position getPosition(int64_t element) const;
  bool haveColumns(const ElementRows &rows) const;
  void cutRow(const ElementRows &row, const VisitRows &visit) const;
  void cutColumns(const ElementRows &rows, const VisitRows &visit) const;
  void visitRow(const ElementRows &row, const VisitBlock &visit) const;
  void visitColumns(const ElementRows &rows, const VisitBlock &visit) const;

  int64_t start;
  std::vector<Factor> factors; ///< row-major, neighbours joined where one stride serves both
  int64_t elements = 1, tensors = 1;
  /// The distance in the parameter, in elements, of elements that are neighbours in a stored
  /// tensor, and how many such neighbours follow one another. A distance of 0: neighbours in a
  /// stored tensor are neighbours in the parameter too, or there are none.
  int64_t columnStep = 0;
  int64_t columnSize = 1;
};

/// The name of a stored tensor of `stored`, of these iterations, with the number `tensor`.
std::string makeTensorName(const StoredParameter &stored, std::span<const int64_t> iterations,
                           int64_t tensor);

} // namespace titan
