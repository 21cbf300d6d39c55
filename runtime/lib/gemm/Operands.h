// What a matrix product is given, whoever makes it.
#pragma once

#include <cstdint>

namespace titan::rt {

/// A factor: an element of line i (row of a left operand, column of a right one) and depth d lies
/// at i * ld + d if lines run along depth, and at d * ld + i otherwise.
template <typename E> struct OperandOf {
  /// (Inlined always, since files for other processors have it, too.)
  [[gnu::always_inline]] const E *at(int64_t row, int64_t k) const {
    return data + (isKContiguous ? row * ld + k : k * ld + row);
  }
  /// The operand without the lines before this one.
  OperandOf from(int64_t row) const { return {at(row, 0), ld, isKContiguous}; }
  const E *data;
  int64_t ld;
  bool isKContiguous;
};
using FloatOperand = OperandOf<float>;
using Bfloat16Operand = OperandOf<uint16_t>;

struct Extents {
  int64_t m, n, k;
};

/// Which lines of a factor, and which of their depth.
struct Slice {
  int64_t firstRow, rows, firstK, kCount;
};

/// Where a product goes: C, with what it is added to before it is rounded, which is what C holds,
/// and sums that are not rounded yet; those go with bf16 alone. (`at` is inlined always, since
/// files for other processors have it, too.)
template <typename To> struct Destination {
  [[gnu::always_inline]] Destination at(int64_t row, int64_t column) const {
    return {to + row * ld + column, ld, adds, sums ? sums + row * ldSums + column : nullptr,
            ldSums};
  }
  To *to;
  int64_t ld;
  bool adds;
  const float *sums = nullptr;
  int64_t ldSums = 0;
};

} // namespace titan::rt
