// Operands of a GEMM, shared by all backends.
#pragma once

#include <cstdint>

namespace titan::rt {

/// A GEMM operand as a matrix of rows and k: A, or B transposed. Element (row, k) is at row * ld +
/// k if the operand is K-major, else at k * ld + row.
template <typename E> struct OperandOf {
  /// (Always inlined: translation units of other instruction sets use it too.)
  [[gnu::always_inline]] const E *at(int64_t row, int64_t k) const {
    return data + (isKContiguous ? row * ld + k : k * ld + row);
  }
  /// The operand without the rows before `row`.
  OperandOf from(int64_t row) const { return {at(row, 0), ld, isKContiguous}; }
  const E *data;
  int64_t ld;
  bool isKContiguous;
};
using FloatOperand = OperandOf<float>;
using Bfloat16Operand = OperandOf<uint16_t>;

/// Of a product C[m, n] = A[m, k] B[k, n].
struct Extents {
  int64_t m, n, k;
};

/// A range of rows and of k of an operand.
struct Slice {
  int64_t firstRow, rows, firstK, kCount;
};

/// The destination of a product: C, whether to add to its old value, and, for bf16, unrounded
/// partial sums to add. (`at` is always inlined: translation units of other instruction sets use it
/// too.)
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
