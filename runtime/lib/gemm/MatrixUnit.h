// The bf16 GEMM of attention, on AMX tiles (AmxAttention.cpp) or on vectors with bf16 pairs
// (Avx512Attention.cpp). As in Panel.h, 32 queries or keys occupy the lanes. A result consists of
// 32 x 32 blocks of floats in sequence; for one panel of lanes, these are its rows. Probabilities
// and their gradients are floats. They are multiplied as sums of two bf16, high and low, which
// keeps 16 significant bits.
//
// A packed panel has 32 rows (of the left operand, or of the right one transposed) and consists of
// blocks 32 deep. Elements beyond the operand are 0 wherever a product reads them. The order within
// a block is private to the unit. For a left operand it depends on whether the operand is K-major:
// K-major operands are for `multiply`, others for `add`.
#pragma once

#include "Operands.h"

namespace titan::rt {

constexpr int64_t kUnitPanel = 32; // rows of a panel, and depth of a block
constexpr int64_t kUnitBlockElements = kUnitPanel * kUnitPanel;

/// The number of panels or blocks that hold `extent`. (Always inlined: translation units of other
/// instruction sets use it too.)
[[gnu::always_inline]] constexpr int64_t unitPanels(int64_t extent) {
  return (extent + kUnitPanel - 1) / kUnitPanel;
}

/// A packed operand of floats as the sum of two bf16 operands.
struct Halves {
  uint16_t *high, *low;
};

class MatrixUnit {
public:
  /// The calling thread multiplies between these two calls.
  virtual void begin() const = 0;
  virtual void end() const = 0;

  virtual void packLeft(const Bfloat16Operand &from, int64_t rows, int64_t depth,
                        uint16_t *to) const = 0;
  virtual void packRight(const Bfloat16Operand &from, int64_t rows, int64_t depth,
                         uint16_t *to) const = 0;
  /// Packs rows of 32 floats as a right operand: row r is depth r.
  virtual void splitDepth(const float *rows, int64_t count, const Halves &to) const = 0;
  /// Packs rows of floats as a left operand for `addAcross`; the first `depth` elements of a row
  /// count.
  virtual void splitRows(const float *rows, int64_t count, int64_t depth,
                         const Halves &to) const = 0;

  /// C = factor * A B for the first `rows` rows of A and one panel of B. C holds whole panels, here
  /// and below.
  virtual void multiply(const uint16_t *a, int64_t rows, const uint16_t *b, int64_t depth,
                        float factor, float *c) const = 0;
  /// C += A B for `rows` rows of A and one panel of B; panels of A are `stride` elements apart.
  virtual void add(const uint16_t *a, int64_t rows, int64_t stride, const Halves &b, int64_t depth,
                   float *c) const = 0;
  /// C += A B with a depth of at most 32, for rows of A and columns of B; panels of B are `stride`
  /// elements apart. C is ordered [panel of A][panel of B].
  virtual void addAcross(const Halves &a, int64_t rows, int64_t depth, const uint16_t *b,
                         int64_t columns, int64_t stride, float *c) const = 0;

protected:
  ~MatrixUnit() = default;
};

/// The unit of this processor; null if it has none or TITAN_BF16 disables it.
const MatrixUnit *matrixUnit();

// Null if the compiler does not support the instruction set.
namespace amx {
const MatrixUnit *matrixUnit(); // requires amx::isAvailable()
}
namespace avx512 {
const MatrixUnit *matrixUnit(); // requires AVX512_BF16
}

} // namespace titan::rt
