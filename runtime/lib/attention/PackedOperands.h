// Attention tensors as packed operands of a MatrixUnit.
#pragma once

#include "Panel.h"
#include "Products.h"
#include "gemm/MatrixUnit.h"
#include "gemm/VectorUnit.h"
#include "threads/ThreadScratch.h"

#include <initializer_list>

namespace titan::rt {

/// Whether the tensors have contiguous rows, which a MatrixUnit requires.
inline bool fitsUnit(std::initializer_list<AttentionStrides> all) {
  bool fits = true;
  for (const AttentionStrides &at : all)
    fits &= at.element == 1;
  return fits;
}

/// `rows` rows of `depth` elements of each of `heads` heads, packed in blocks of kUnitPanel by
/// kUnitPanel.
struct PackedOperand {
  int64_t rows, depth, heads = 1;
  uint16_t *data = nullptr;

  int64_t elements() const { return heads * getHeadElements(); }
  /// Elements between consecutive panels.
  int64_t stride() const { return unitPanels(depth) * kUnitBlockElements; }
  /// The block that contains element `k` of `row`.
  uint16_t *at(int64_t row, int64_t k = 0, int64_t head = 0) const {
    return data + head * getHeadElements() + row / kUnitPanel * stride() +
           k / kUnitPanel * kUnitBlockElements;
  }

private:
  int64_t getHeadElements() const { return unitPanels(rows) * stride(); }
};

/// State shared by the forward and backward products: the unit, scratch, and weights as two bf16.
class PackedProducts {
protected:
  explicit PackedProducts(const MatrixUnit &unit) : unit(unit) { unit.begin(); }
  ~PackedProducts() { unit.end(); }
  PackedProducts(const PackedProducts &) = delete;

  /// Scratch for `elements` floats; allocate() sets `*to`.
  struct Segment {
    float **to;
    int64_t elements;
  };
  /// Allocates scratch of the thread for operands, segments and weights. `maxWeights` is the
  /// largest number of rows of probabilities or of their gradients.
  void allocate(int64_t maxWeights, std::initializer_list<PackedOperand *> operands,
                std::initializer_list<Segment> segments) {
    const int64_t weight = kUnitPanel * unitPanels(maxWeights) * kUnitPanel;
    int64_t bytes = 2 * 2 * weight;
    for (const PackedOperand *operand : operands)
      bytes += 2 * operand->elements();
    for (const Segment &segment : segments)
      bytes += 4 * segment.elements;
    ThreadScratch &scratch = ThreadScratch::ofThread(static_cast<size_t>(bytes));
    weights = {scratch.take<uint16_t>(weight), scratch.take<uint16_t>(weight)};
    for (PackedOperand *operand : operands)
      operand->data = scratch.take<uint16_t>(operand->elements());
    for (const Segment &segment : segments)
      *segment.to = scratch.take<float>(segment.elements);
  }

  /// Pack `to.rows` rows; `isKContiguous` says whether the elements of a row are contiguous.
  void packLeft(const bf16 *from, const AttentionStrides &at, bool isKContiguous,
                const PackedOperand &to, int64_t head = 0) const {
    unit.packLeft(operand(from, at, isKContiguous), to.rows, to.depth, to.at(0, 0, head));
  }
  void packRight(const bf16 *from, const AttentionStrides &at, bool isKContiguous,
                 const PackedOperand &to) const {
    unit.packRight(operand(from, at, isKContiguous), to.rows, to.depth, to.data);
  }

  /// Rounds factor * lanes[depth][lanes] into rows.
  static void store(const float *lanes, int64_t depth, float factor, bf16 *to, RowStrides at,
                    int64_t rows) {
    if (at.element == 1)
      avx512::storeRows(lanes, depth, factor, to, at.row, rows);
    else
      storeRows(lanes, depth, factor, to, at, rows);
  }

  /// C[rows][lanes] += all rows of the operand, from element `firstK` on, times rows[count][lanes],
  /// which are split into two bf16.
  void addWeighted(const PackedOperand &operand, int64_t head, int64_t firstK, const float *rows,
                   int64_t count, float *c) {
    unit.splitDepth(rows, count, weights);
    unit.add(operand.at(0, firstK, head), operand.rows, operand.stride(), weights, count, c);
  }

  const MatrixUnit &unit;
  Halves weights; // probabilities or gradients of scores, as two bf16

private:
  static Bfloat16Operand operand(const bf16 *from, const AttentionStrides &at, bool isKContiguous) {
    return {reinterpret_cast<const uint16_t *>(from), at.position, isKContiguous};
  }
};

} // namespace titan::rt
