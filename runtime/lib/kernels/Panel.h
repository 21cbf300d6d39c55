// The inner products of the attention kernels: a panel C[rows, lanes] = B[rows, depth] A[depth,
// lanes], where the lanes of A and C are contiguous and fill whole vectors, and an element of B is
// broadcast. Everything attention multiplies has this form once queries (or keys, or head
// dimensions) are put into lanes. GCC's vector types keep it free of intrinsics: 64 bytes are one
// AVX-512 register or two AVX2 ones.
#pragma once

#include <cstdint>
#include <type_traits>

namespace titan::rt {

template <typename T> struct Lanes {
  static constexpr int64_t vector = 64 / sizeof(T);
  static constexpr int64_t block = 2 * vector; // queries or keys that are worked on at once
  typedef T Vector __attribute__((vector_size(64), may_alias));
};

/// to[d * toStride] = from[d * fromStride] * factor. Strides of 1 are the usual case and worth
/// loops of their own. The product is of the factor's type, whatever memory holds on either side.
template <typename From, typename T, typename To>
inline void scaleRow(const From *from, int64_t fromStride, T factor, int64_t count, To *to,
                     int64_t toStride) {
  auto walk = [&](auto fromAt, auto toAt) {
    for (int64_t d = 0; d < count; ++d)
      to[d * toAt] = static_cast<T>(from[d * fromAt]) * factor;
  };
  using One = std::integral_constant<int64_t, 1>;
  if (fromStride == 1 && toStride == 1)
    walk(One(), One());
  else if (fromStride == 1)
    walk(One(), toStride);
  else if (toStride == 1)
    walk(fromStride, One());
  else
    walk(fromStride, toStride);
}

/// Likewise without a factor, to contiguous memory.
template <typename From, typename To>
inline void copyRow(const From *from, int64_t stride, int64_t count, To *to) {
  scaleRow(from, stride, To(1), count, to, 1);
}

/// Where the broadcast operand's element (row, depth) lies.
template <typename T> struct Broadcast {
  const T *data;
  int64_t rowStride;
  int64_t depthStride;
};

/// `Rows` rows of `Vectors` vectors each, held in registers over the whole depth.
template <typename T, int Rows, int Vectors, bool Add>
inline void panelTile(T *c, int64_t ldc, const T *a, int64_t lda, int64_t depth, Broadcast<T> b) {
  using Vector = typename Lanes<T>::Vector;
  Vector sum[Rows][Vectors];
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v)
      sum[r][v] = Add ? reinterpret_cast<const Vector *>(c + r * ldc)[v] : Vector{};
  for (int64_t k = 0; k < depth; ++k) {
    const auto *row = reinterpret_cast<const Vector *>(a + k * lda);
    const T *factor = b.data + k * b.depthStride;
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      T scalar = factor[r * b.rowStride];
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v)
        sum[r][v] += scalar * row[v];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v)
      reinterpret_cast<Vector *>(c + r * ldc)[v] = sum[r][v];
}

template <typename T, int Vectors, bool Add>
inline void panelRows(T *c, int64_t ldc, const T *a, int64_t lda, int64_t depth, Broadcast<T> b,
                      int64_t rows) {
  auto advance = [&](int64_t by) {
    c += by * ldc;
    b.data += by * b.rowStride;
    rows -= by;
  };
  while (rows >= 8) {
    panelTile<T, 8, Vectors, Add>(c, ldc, a, lda, depth, b);
    advance(8);
  }
  if (rows >= 4) {
    panelTile<T, 4, Vectors, Add>(c, ldc, a, lda, depth, b);
    advance(4);
  }
  while (rows >= 1) {
    panelTile<T, 1, Vectors, Add>(c, ldc, a, lda, depth, b);
    advance(1);
  }
}

/// C[rows, block] = (or +=, with Add) B A, one block of lanes wide.
template <bool Add, typename T>
void panel(T *c, const T *a, int64_t depth, Broadcast<T> b, int64_t rows) {
  constexpr int64_t block = Lanes<T>::block;
  panelRows<T, 2, Add>(c, block, a, block, depth, b, rows);
}

/// C[rows, width] += B A for a width of any number of vectors, rows of A and C that far apart.
template <typename T>
void widePanelAdd(T *c, const T *a, int64_t width, int64_t depth, Broadcast<T> b, int64_t rows) {
  int64_t at = 0;
  for (; at + Lanes<T>::block <= width; at += Lanes<T>::block)
    panelRows<T, 2, true>(c + at, width, a + at, width, depth, b, rows);
  if (at < width)
    panelRows<T, 1, true>(c + at, width, a + at, width, depth, b, rows);
}

} // namespace titan::rt
