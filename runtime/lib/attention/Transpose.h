// Transposition of matrices between row-major memory and vector lanes, with a factor and a
// conversion of element types.
#pragma once

#include "base/math/VectorMath.h"
#include "titan/runtime/program.h"

#include <cstdint>
#include <type_traits>
#include <utility>

namespace titan::rt {

/// A square block of T in registers, 32 bytes wide; any processor since AVX can shuffle it.
template <typename T> class RegisterBlock {
public:
  static constexpr int64_t size = 32 / sizeof(T);

  template <typename From>
  TITAN_VECTOR_INLINE void load(const From *from, int64_t stride, T factor) {
#pragma GCC unroll 8
    for (int64_t i = 0; i < size; ++i)
      rows[i] = read(from + i * stride) * factor;
  }
  template <typename To> TITAN_VECTOR_INLINE void store(To *to, int64_t stride) const {
#pragma GCC unroll 8
    for (int64_t i = 0; i < size; ++i)
      write(to + i * stride, rows[i]);
  }

  /// Swaps the two off-diagonal quarters, then recurses into each quarter (J. Eklundh, "A fast
  /// computer method for matrix transposing", 1972).
  TITAN_VECTOR_INLINE void transpose() {
    swapQuarters<size / 2>();
    swapQuarters<size / 4>();
    if constexpr (size == 8)
      swapQuarters<1>();
  }

private:
  typedef T Vector __attribute__((vector_size(32), may_alias));
  typedef T Unaligned __attribute__((vector_size(32), may_alias, aligned(alignof(T))));

  static TITAN_VECTOR_INLINE Vector read(const T *from) {
    return *reinterpret_cast<const Unaligned *>(from);
  }
  static TITAN_VECTOR_INLINE void write(T *to, Vector row) {
    *reinterpret_cast<Unaligned *>(to) = row;
  }
  /// Other element types are converted through memory.
  template <typename From> static TITAN_VECTOR_INLINE Vector read(const From *from) {
    alignas(32) T row[size];
    for (int64_t j = 0; j < size; ++j)
      row[j] = static_cast<T>(from[j]);
    return *reinterpret_cast<const Vector *>(row);
  }
  template <typename To> static TITAN_VECTOR_INLINE void write(To *to, Vector row) {
    for (int64_t j = 0; j < size; ++j)
      to[j] = row[j];
  }

  /// Swaps the two off-diagonal quarters of each aligned square of 2 * Half rows and columns.
  template <int Half> TITAN_VECTOR_INLINE void swapQuarters() {
    swapQuarters<Half>(std::make_integer_sequence<int, size>());
  }
  template <int Half, int... J>
  TITAN_VECTOR_INLINE void swapQuarters(std::integer_sequence<int, J...>) {
#pragma GCC unroll 8
    for (int i = 0; i < size; ++i)
      if (!(i & Half)) {
        const Vector a = rows[i], b = rows[i + Half];
        rows[i] = __builtin_shufflevector(a, b, (J & Half ? size + J - Half : J)...);
        rows[i + Half] = __builtin_shufflevector(a, b, (J & Half ? size + J : J + Half)...);
      }
  }

  Vector rows[size];
};

/// A matrix in memory: element d of row i is at i * row + d * element.
struct RowStrides {
  int64_t row, element;
};

/// to[d * toStride + i] = factor * element d of row i, computed in the type of `factor`.
template <typename From, typename T, typename To>
void transpose(const From *from, RowStrides at, int64_t rows, int64_t depth, T factor, To *to,
               int64_t toStride) {
  constexpr int64_t size = RegisterBlock<T>::size;
  const int64_t fullRows = at.element == 1 ? rows / size * size : 0;
  const int64_t fullDepth = depth / size * size;
  for (int64_t i = 0; i < fullRows; i += size)
    for (int64_t d = 0; d < fullDepth; d += size) {
      RegisterBlock<T> block;
      block.load(from + i * at.row + d, at.row, factor);
      block.transpose();
      block.store(to + d * toStride + i, toStride);
    }
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t d = i < fullRows ? fullDepth : 0; d < depth; ++d)
      to[d * toStride + i] = static_cast<T>(from[i * at.row + d * at.element]) * factor;
}

} // namespace titan::rt
