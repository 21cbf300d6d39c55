// What makes attention's products of bf16: the processor's tiles (AmxAttention.cpp) or its vectors,
// by pairs (Avx512Attention.cpp). As in Panel.h, 32 queries or keys lie in lanes, and every result
// is squares of 32 x 32 floats, one after the other, which for one panel of lanes are just its
// rows. Probabilities and their gradients, which are floats, are multiplied as sums of two bf16,
// high and low, so that they keep 16 bits.
//
// Packed, 32 lines (rows of a left operand, columns of a right one) are a panel of blocks, each 32
// deep. What is missing of either is 0 wherever a product reads it. How the elements of a block lie
// is the unit's own affair, and another one where a left operand's lines run along its depth: such
// operands are for `multiply`, the others for `add`.
#pragma once

#include "Operands.h"

namespace titan::rt {

constexpr int64_t kUnitPanel = 32; // lines of a panel, and depth of a block
constexpr int64_t kUnitBlockElements = kUnitPanel * kUnitPanel;

/// Panels or blocks that hold so much. (Inlined always, since files for other processors have it,
/// too.)
[[gnu::always_inline]] constexpr int64_t unitPanels(int64_t extent) {
  return (extent + kUnitPanel - 1) / kUnitPanel;
}

struct Halves {
  uint16_t *high, *low;
};

class MatrixUnit {
public:
  /// The calling thread multiplies between these two.
  virtual void begin() const = 0;
  virtual void end() const = 0;

  virtual void packLeft(const Bfloat16Operand &from, int64_t rows, int64_t depth,
                        uint16_t *to) const = 0;
  virtual void packRight(const Bfloat16Operand &from, int64_t rows, int64_t depth,
                         uint16_t *to) const = 0;
  /// Rows of 32 floats, as the right operand whose depth they are.
  virtual void splitDepth(const float *rows, int64_t count, const Halves &to) const = 0;
  /// As the left operand whose lines they are, of which the first `depth` elements count. It is for
  /// `addAcross`.
  virtual void splitRows(const float *rows, int64_t count, int64_t depth,
                         const Halves &to) const = 0;

  /// C = A B times the factor for the first lines of A and a panel of B. C has room for whole
  /// panels, here and below.
  virtual void multiply(const uint16_t *a, int64_t rows, const uint16_t *b, int64_t depth,
                        float factor, float *c) const = 0;
  /// C += A B for lines of A, whose panels are so many elements apart, and a panel of B.
  virtual void add(const uint16_t *a, int64_t rows, int64_t stride, const Halves &b, int64_t depth,
                   float *c) const = 0;
  /// C += A B, at most 32 deep, for lines of A and columns of B, whose panels are so many elements
  /// apart. C[panel of A][of B].
  virtual void addAcross(const Halves &a, int64_t rows, int64_t depth, const uint16_t *b,
                         int64_t columns, int64_t stride, float *c) const = 0;

protected:
  ~MatrixUnit() = default;
};

/// The one that this processor has, if TITAN_BF16 does not ask to do without; else null.
const MatrixUnit *matrixUnit();

// Null where the compiler did not know them.
namespace amx {
const MatrixUnit *matrixUnit(); // for where amx::isAvailable()
}
namespace avx512 {
const MatrixUnit *matrixUnit(); // for where the processor multiplies pairs of bf16
}

} // namespace titan::rt
