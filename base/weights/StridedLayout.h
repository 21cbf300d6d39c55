// The elements of one iteration of a parameter in stored tensors. Plain data, no files.
#pragma once

#include "base/weights/WeightMap.h"

#include <functional>
#include <span>

namespace titan {

/// `count` elements: of the parameter from `element` on, `elementStride` apart, and of a stored
/// tensor from `stored` on, `storedStride` apart. One of the strides is 1.
struct StridedRun {
  int64_t tensor; ///< the number of the stored tensor: its name indices, row-major
  int64_t element, elementStride;
  int64_t stored, storedStride;
  int64_t count;
};

class StridedLayout {
public:
  explicit StridedLayout(const StoredParameter &stored);

  /// The number of stored tensors that one iteration of the parameter consists of.
  int64_t countTensors() const { return tensors; }
  /// A range of elements that contains all elements of one stored tensor, and no others if the
  /// factors that select the tensor precede the strided ones.
  std::pair<int64_t, int64_t> elementsOf(int64_t tensor) const;
  /// Visits elements [first, first + count) of the parameter. Runs of a transposed layout are short
  /// and advance through a few rows of the parameter, so that caches hold both sides.
  void forEachRun(int64_t first, int64_t count,
                  const std::function<void(const StridedRun &)> &visit) const;

private:
  /// A factor of the parameter; `tensorStride` counts stored tensors.
  struct Factor {
    int64_t size, stride, tensorStride;
  };
  struct Position {
    int64_t tensor, stored;
  };
  Position positionOf(int64_t element) const;
  void visitRow(int64_t first, int64_t count,
                const std::function<void(const StridedRun &)> &visit) const;
  void visitRows(int64_t first, int64_t rows,
                 const std::function<void(const StridedRun &)> &visit) const;

  int64_t start;
  std::vector<Factor> factors; ///< row-major, neighbours joined where one stride serves both
  int64_t elements = 1, tensors = 1;
  /// Elements between neighbours in a stored tensor; 0 if they are neighbours in the parameter,
  /// too, or nowhere.
  int64_t columnStep = 0;
  int64_t columnSize = 1;
};

/// The name of a stored tensor of `stored`, of these iterations, with the number `tensor`.
std::string nameOfTensor(const StoredParameter &stored, std::span<const int64_t> iterations,
                         int64_t tensor);

} // namespace titan
