// bf16 GEMM. Term products are exact in float, so the backends (AMX, vectors, MKL, widening) differ
// only in the order of sums. AMX and pair products also take subnormals for 0.
#include "Amx.h"
#include "Batch.h"
#include "Blas.h"
#include "BlockedGemm.h"
#include "Grid.h"
#include "Request.h"
#include "SplitK.h"
#include "VectorUnit.h"
#include "threads/ThreadScratch.h"

#include "Gemm.h"
#include "titan/runtime/kernel_loops.h"

#include <algorithm>
#include <omp.h>

namespace titan::rt {

namespace {

/// AMX; vectors with pairs; vectors that widen while packing; MKL; widen first, then f32 GEMM.
enum class Backend { Amx, Pairs, WidenWhilePacking, Mkl, WidenFirst };

Backend chooseBackend() {
  if (amx::isAvailable())
    return Backend::Amx;
  if (pairVectors())
    return Backend::Pairs;
  if (requestForBfloat16() == Bfloat16Request::Native && blas().gemmBf16)
    return Backend::Mkl;
  return wideningVectors() && !isBlasForced() ? Backend::WidenWhilePacking : Backend::WidenFirst;
}

/// The backend of all products of this process.
Backend backend() {
  static const Backend chosen = chooseBackend();
  return chosen;
}

/// A stored matrix of `rows` rows and `columns` columns.
struct Matrix {
  const bf16 *data;
  int64_t ld, rows, columns;
  bool transposed;
};

/// op(A)[m, k] and op(B)[k, n].
struct Product {
  Matrix a, b;
  int64_t m, n, k;
};

Product makeProduct(Trans transA, Trans transB, int64_t m, int64_t n, int64_t k, const bf16 *a,
                    int64_t lda, const bf16 *b, int64_t ldb) {
  bool ta = transA == Trans::Yes, tb = transB == Trans::Yes;
  // BLAS requires a leading dimension of at least one row, even for a single row.
  Matrix left{a, std::max(lda, ta ? m : k), ta ? k : m, ta ? m : k, ta};
  Matrix right{b, std::max(ldb, tb ? k : n), tb ? n : k, tb ? k : n, tb};
  return {left, right, m, n, k};
}

/// The product of some rows and columns over a slice of k.
Product sliceProduct(Product p, const Slice &rows, const Slice &columns) {
  auto take = [](Matrix &matrix, int64_t row, int64_t rowCount, int64_t column, int64_t count) {
    if (matrix.transposed) {
      std::swap(row, column);
      std::swap(rowCount, count);
    }
    matrix.data += row * matrix.ld + column;
    matrix.rows = rowCount;
    matrix.columns = count;
  };
  take(p.a, rows.firstRow, rows.rows, rows.firstK, rows.kCount);
  take(p.b, columns.firstK, columns.kCount, columns.firstRow, columns.rows);
  return {p.a, p.b, rows.rows, columns.rows, rows.kCount};
}

/// The product of `count` rows from `first`.
Product takeRows(Product p, int64_t first, int64_t count) {
  p.a.data += p.a.transposed ? first : first * p.a.ld;
  (p.a.transposed ? p.a.columns : p.a.rows) = count;
  p.m = count;
  return p;
}

struct WidenedOperands; // names scratch that stays in use during the f32 GEMM

/// A copy of the matrix as floats, row-major without gaps.
const float *widen(const Matrix &matrix, ThreadScratch &scratch) {
  float *wide = scratch.take<float>(matrix.rows * matrix.columns);
  tm::detail::parallelFor(matrix.rows, matrix.rows * matrix.columns, [&](int64_t i) {
#pragma omp simd
    for (int64_t j = 0; j < matrix.columns; ++j)
      wide[i * matrix.columns + j] = matrix.data[i * matrix.ld + j];
  });
  return wide;
}

/// The scratch of widen().
size_t sizeWidened(const Matrix &matrix) {
  return ThreadScratch::roundUp(static_cast<size_t>(matrix.rows * matrix.columns) * sizeof(float));
}

/// The scratch that `multiply` takes.
size_t sizeScratch(const Product &p) {
  return backend() == Backend::Mkl ? 0 : sizeWidened(p.a) + sizeWidened(p.b);
}

/// Row-major C = A B is column-major C' = B' A': swap operands and extents.
void multiply(const Product &p, bool accumulate, float *c, int64_t ldc, ThreadScratch &scratch) {
  if (backend() == Backend::WidenFirst) {
    const float *a = widen(p.a, scratch), *b = widen(p.b, scratch);
    return gemmBatched({}, Trans(p.a.transposed), Trans(p.b.transposed), p.m, p.n, p.k, a,
                       p.a.columns, b, p.b.columns, accumulate, c, ldc);
  }
  const int m = narrow(p.n), n = narrow(p.m), k = narrow(p.k);
  const int lda = narrow(p.b.ld), ldb = narrow(p.a.ld), to = narrow(std::max(ldc, p.n));
  const float one = 1, beta = accumulate ? 1 : 0;
  blas().gemmBf16(p.b.transposed ? "T" : "N", p.a.transposed ? "T" : "N", &m, &n, &k, &one,
                  &p.b.data->bits, &lda, &p.a.data->bits, &ldb, &beta, c, &to);
}

void computeWithoutKernel(const Product &p, bool accumulate, float *c, int64_t ldc) {
  multiply(p, accumulate, c, ldc, ThreadScratch::ofThread<WidenedOperands>(sizeScratch(p)));
}

/// By MKL or by the f32 GEMM, in blocks of rows that keep the unrounded sums below 64 MiB.
void computeWithoutKernel(const Product &p, bool accumulate, bf16 *c, int64_t ldc) {
  constexpr int64_t most = int64_t{64} << 20, fewest = 256;
  const int64_t rows = std::min(p.m, std::max<int64_t>(fewest, most / 4 / p.n));
  const size_t sums = ThreadScratch::roundUp(static_cast<size_t>(rows * p.n) * sizeof(float));
  for (int64_t first = 0; first < p.m; first += rows) {
    const int64_t count = std::min(rows, p.m - first);
    const Product slice = takeRows(p, first, count);
    ThreadScratch &scratch = ThreadScratch::ofThread<WidenedOperands>(sums + sizeScratch(slice));
    float *sum = scratch.take<float>(count * p.n);
    bf16 *to = c + first * ldc;
    if (accumulate)
      for (int64_t i = 0; i < count; ++i)
        std::copy_n(to + i * ldc, p.n, sum + i * p.n);
    multiply(slice, accumulate, sum, p.n, scratch);
    tm::detail::parallelFor(count, count * p.n, [&](int64_t i) {
#pragma omp simd
      for (int64_t j = 0; j < p.n; ++j)
        to[i * ldc + j] = sum[i * p.n + j];
    });
  }
}

/// The matrix as an operand of kernels. It may be empty and without memory.
Bfloat16Operand makeOperand(const Matrix &matrix, bool isKContiguous) {
  return {reinterpret_cast<const uint16_t *>(matrix.data), matrix.ld, isKContiguous};
}

/// On AMX tiles: threads divide C into a grid of tiles.
template <typename To> void computeOnTiles(const Product &p, bool accumulate, To *c, int64_t ldc) {
  const bool isShared = !omp_in_parallel() && p.m * p.n * p.k >= int64_t{1} << 18;
  const Grid grid(p.m, p.n, tileCount(p.m * p.n, isShared ? omp_get_max_threads() : 1));
  const auto bytes = static_cast<int64_t>(amx::scratchBytes({grid.height, grid.width, p.k}));
  auto makeTile = [&](int64_t index, std::byte *scratch) {
    const int64_t row = index / grid.columns * grid.height;
    const int64_t column = index % grid.columns * grid.width;
    const Extents extents{std::min(grid.height, p.m - row), std::min(grid.width, p.n - column),
                          p.k};
    amx::multiply(makeOperand(p.a, !p.a.transposed).from(row),
                  makeOperand(p.b, p.b.transposed).from(column), extents, accumulate,
                  c + row * ldc + column, ldc, scratch);
  };
  auto takeScratch = [&] {
    return ThreadScratch::ofThread(static_cast<size_t>(bytes)).take<std::byte>(bytes);
  };
  if (grid.tiles == 1) // libgomp would allocate a team of one thread
    return makeTile(0, takeScratch());
#pragma omp parallel
  {
    // Also by a thread that finds no tile left: it then need not allocate in a later product.
    std::byte *scratch = takeScratch();
#pragma omp for schedule(dynamic)
    for (int64_t index = 0; index < grid.tiles; ++index)
      makeTile(index, scratch);
  }
}

template <typename P, typename To>
void computeOnVectors(const Bfloat16Vectors<P> &unit, const Product &p, bool accumulate, To *c,
                      int64_t ldc) {
  multiplyOnVectors(unit, makeOperand(p.a, !p.a.transposed), makeOperand(p.b, p.b.transposed),
                    {p.m, p.n, p.k}, Destination<To>{c, ldc, accumulate});
}

template <typename To> void computeProduct(const Product &p, bool accumulate, To *c, int64_t ldc) {
  if (needsSplitK({p.m, p.n, p.k}))
    return multiplySplitK<To>({p.m, p.n, p.k}, {c, ldc, accumulate},
                              [&](const Slice &rows, const Slice &columns, float *to, int64_t ld) {
                                computeProduct<float>(sliceProduct(p, rows, columns), false, to,
                                                      ld);
                              });
  switch (backend()) {
  case Backend::Amx:
    return computeOnTiles(p, accumulate, c, ldc);
  case Backend::Pairs:
    return computeOnVectors(*pairVectors(), p, accumulate, c, ldc);
  case Backend::WidenWhilePacking:
    return computeOnVectors(*wideningVectors(), p, accumulate, c, ldc);
  case Backend::Mkl:
  case Backend::WidenFirst:
    return computeWithoutKernel(p, accumulate, c, ldc);
  }
}

template <typename To>
void multiplyBatch(std::span<const BatchDim> batch, const Product &p, bool accumulate, To *c,
                   int64_t ldc) {
  if (p.m == 0 || p.n == 0)
    return;
  narrow(std::max({p.m, p.n, p.k, p.a.ld, p.b.ld, ldc})); // throw here, not in the parallel region
  if (backend() == Backend::Mkl || backend() == Backend::WidenFirst)
    blas();
  forEachOfBatch(batch, p.m * p.n * p.k, [&](BatchOffsets at) {
    Product shifted = p;
    shifted.a.data += at.a;
    shifted.b.data += at.b;
    computeProduct(shifted, accumulate, c + at.c, ldc);
  });
}

} // namespace

void gemmBatched(std::span<const BatchDim> batch, Trans transA, Trans transB, int64_t m, int64_t n,
                 int64_t k, const bf16 *a, int64_t lda, const bf16 *b, int64_t ldb, bool accumulate,
                 float *c, int64_t ldc) {
  multiplyBatch(batch, makeProduct(transA, transB, m, n, k, a, lda, b, ldb), accumulate, c, ldc);
}

void gemmBatched(std::span<const BatchDim> batch, Trans transA, Trans transB, int64_t m, int64_t n,
                 int64_t k, const bf16 *a, int64_t lda, const bf16 *b, int64_t ldb, bool accumulate,
                 bf16 *c, int64_t ldc) {
  multiplyBatch(batch, makeProduct(transA, transB, m, n, k, a, lda, b, ldb), accumulate, c, ldc);
}

} // namespace titan::rt
