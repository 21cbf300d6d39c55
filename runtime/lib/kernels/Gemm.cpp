#include "titan/runtime/gemm.h"

#include "Batch.h"
#include "Blas.h"
#include "GemmOnTiles.h"

#include <algorithm>
#include <type_traits>

namespace titan::rt {

namespace {

template <typename T> BlasProduct<T> *blasProduct() {
  if constexpr (std::is_same_v<T, float>)
    return blas().sgemm;
  else
    return blas().dgemm;
}

template <typename T> bool isOnTiles(int64_t m, int64_t n, int64_t k, T alpha, T beta) {
  return std::is_same_v<T, float> && alpha == 1 && (beta == 0 || beta == 1) &&
         isFasterOnTiles(m, n, k);
}

/// Row-major C = A B is column-major C' = B' A': swap operands and extents.
template <typename T>
void product(Trans transA, Trans transB, int64_t m, int64_t n, int64_t k, T alpha, const T *a,
             int64_t lda, const T *b, int64_t ldb, T beta, T *c, int64_t ldc) {
  if (m == 0 || n == 0)
    return;
  if constexpr (std::is_same_v<T, float>)
    if (isOnTiles(m, n, k, alpha, beta))
      return multiplyOnTiles({a, lda, transA == Trans::No}, {b, ldb, transB == Trans::Yes},
                             {m, n, k}, beta == 1, c, ldc);
  // BLAS insists on leading dimensions of at least a row, also where there is only one row.
  int64_t rowA = transA == Trans::No ? k : m, rowB = transB == Trans::No ? n : k;
  const int toA = narrow(std::max({lda, rowA, int64_t{1}}));
  const int toB = narrow(std::max({ldb, rowB, int64_t{1}}));
  const int toC = narrow(std::max(ldc, n));
  const int rows = narrow(m), columns = narrow(n), depth = narrow(k);
  blasProduct<T>()(transB == Trans::Yes ? "T" : "N", transA == Trans::Yes ? "T" : "N", &columns,
                   &rows, &depth, &alpha, b, &toB, a, &toA, &beta, c, &toC);
}

template <typename T>
void batched(std::span<const BatchDim> batch, Trans transA, Trans transB, int64_t m, int64_t n,
             int64_t k, T alpha, const T *a, int64_t lda, const T *b, int64_t ldb, T beta, T *c,
             int64_t ldc) {
  narrow(std::max({m, n, k, lda, ldb, ldc})); // throw here, not inside the parallel region
  if (!isOnTiles(m, n, k, alpha, beta))
    blas();
  forEachOfBatch(batch, m * n * k, [&](BatchOffsets at) {
    product(transA, transB, m, n, k, alpha, a + at.a, lda, b + at.b, ldb, beta, c + at.c, ldc);
  });
}

template <typename T> double dotImpl(int64_t count, const T *a, const T *b) {
  constexpr int parts = 64;
  int64_t chunk = std::max<int64_t>(4096, (count + parts - 1) / parts);
  int64_t chunks = (count + chunk - 1) / chunk;
  double partial[parts] = {};
  auto sumChunk = [&](int64_t i) {
    int64_t end = std::min(count, (i + 1) * chunk);
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = i * chunk; j < end; ++j)
      sum += static_cast<double>(a[j]) * static_cast<double>(b[j]);
    partial[i] = sum;
  };
  if (chunks == 1) { // a team of one thread would have libgomp ask for memory, see kernel_loops.h
    sumChunk(0);
  } else {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < chunks; ++i)
      sumChunk(i);
  }
  double total = 0;
  for (int64_t i = 0; i < chunks; ++i)
    total += partial[i];
  return total;
}

} // namespace

void gemm(Trans transA, Trans transB, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
          int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc) {
  product(transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void gemm(Trans transA, Trans transB, int64_t m, int64_t n, int64_t k, double alpha,
          const double *a, int64_t lda, const double *b, int64_t ldb, double beta, double *c,
          int64_t ldc) {
  product(transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void gemmBatched(std::span<const BatchDim> batch, Trans transA, Trans transB, int64_t m, int64_t n,
                 int64_t k, float alpha, const float *a, int64_t lda, const float *b, int64_t ldb,
                 float beta, float *c, int64_t ldc) {
  batched(batch, transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void gemmBatched(std::span<const BatchDim> batch, Trans transA, Trans transB, int64_t m, int64_t n,
                 int64_t k, double alpha, const double *a, int64_t lda, const double *b,
                 int64_t ldb, double beta, double *c, int64_t ldc) {
  batched(batch, transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

double dot(int64_t count, const float *a, const float *b) {
  return dotImpl(count, a, b);
}
double dot(int64_t count, const double *a, const double *b) {
  return dotImpl(count, a, b);
}

} // namespace titan::rt
