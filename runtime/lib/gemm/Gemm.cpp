#include "Gemm.h"

#include "Batch.h"
#include "Blas.h"
#include "BlockedGemm.h"
#include "SplitK.h"

#include <algorithm>
#include <type_traits>

namespace titan::rt {

namespace {

/// Row-major C = A B is column-major C' = B' A': swap operands and extents.
template <typename T>
void multiplyByBlas(const OperandOf<T> &a, const OperandOf<T> &b, const Extents &e,
                    const Destination<T> &c) {
  // BLAS requires a leading dimension of at least one row, even for a single row.
  const int lda = narrow(std::max({a.ld, a.isKContiguous ? e.k : e.m, int64_t{1}}));
  const int ldb = narrow(std::max({b.ld, b.isKContiguous ? e.k : e.n, int64_t{1}}));
  const int ldc = narrow(std::max(c.ld, e.n));
  const int rows = narrow(e.m), columns = narrow(e.n), depth = narrow(e.k);
  const T alpha = 1, beta = c.adds;
  const char *left = a.isKContiguous ? "N" : "T", *right = b.isKContiguous ? "T" : "N";
  if constexpr (std::is_same_v<T, float>)
    blas().sgemm(right, left, &columns, &rows, &depth, &alpha, b.data, &ldb, a.data, &lda, &beta,
                 c.to, &ldc);
  else
    blas().dgemm(right, left, &columns, &rows, &depth, &alpha, b.data, &ldb, a.data, &lda, &beta,
                 c.to, &ldc);
}

/// The largest k of one call, which bounds the rounding errors of float sums: longer sums are
/// divided and added in double (SplitK.h). BLAS gets a smaller bound for thin products, whose terms
/// it adds in only a few partial sums.
int64_t getMaxDepth(const Extents &e) {
  constexpr int64_t thin = 16, thinDepth = 512;
  const bool isThin = std::min(e.m, e.n) < thin;
  return isThin && chooseFloatBackend(e) == FloatBackend::Blas ? thinDepth : kMaxDepth;
}

void multiply(const FloatOperand &a, const FloatOperand &b, const Extents &e,
              const Destination<float> &c) {
  const int64_t most = getMaxDepth(e);
  if (needsSplitK(e, most))
    return multiplySplitK(
        e, c,
        [&](const Slice &ofA, const Slice &ofB, float *to, int64_t ld) {
          const FloatOperand left{a.at(ofA.firstRow, ofA.firstK), a.ld, a.isKContiguous};
          const FloatOperand right{b.at(ofB.firstRow, ofB.firstK), b.ld, b.isKContiguous};
          multiply(left, right, {ofA.rows, ofB.rows, ofA.kCount}, {to, ld, false});
        },
        most);
  switch (chooseFloatBackend(e)) {
  case FloatBackend::Amx:
    return multiplyOnTiles(a, b, e, c);
  case FloatBackend::Vectors:
    return multiplyOnVectors(/*of this processor*/ *floatVectors(), a, b, e, c);
  case FloatBackend::Blas:
    return multiplyByBlas(a, b, e, c);
  }
}

void multiply(const OperandOf<double> &a, const OperandOf<double> &b, const Extents &e,
              const Destination<double> &c) {
  multiplyByBlas(a, b, e, c);
}

template <typename T>
void multiplyBatch(std::span<const BatchDim> batch, Trans transA, Trans transB, const Extents &e,
                   const T *a, int64_t lda, const T *b, int64_t ldb, bool accumulate, T *c,
                   int64_t ldc) {
  if (e.m == 0 || e.n == 0)
    return;
  narrow(std::max({e.m, e.n, e.k, lda, ldb, ldc})); // throw here, not in the parallel region
  if (std::is_same_v<T, double> || chooseFloatBackend(e) == FloatBackend::Blas)
    blas(); // loads LibTorch at first, which may throw
  forEachOfBatch(batch, e.m * e.n * e.k, [&](BatchOffsets at) {
    multiply({a + at.a, lda, transA == Trans::No}, {b + at.b, ldb, transB == Trans::Yes}, e,
             {c + at.c, ldc, accumulate});
  });
}

template <typename T> double computeDot(int64_t count, const T *a, const T *b) {
  constexpr int maxChunks = 64;
  int64_t chunk = std::max<int64_t>(4096, (count + maxChunks - 1) / maxChunks);
  int64_t chunks = (count + chunk - 1) / chunk;
  double partial[maxChunks] = {};
  auto sumChunk = [&](int64_t i) {
    int64_t end = std::min(count, (i + 1) * chunk);
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = i * chunk; j < end; ++j)
      sum += static_cast<double>(a[j]) * static_cast<double>(b[j]);
    partial[i] = sum;
  };
  if (chunks == 1) { // libgomp would allocate a team of one thread, see kernel_loops.h
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

void gemmBatched(std::span<const BatchDim> batch, Trans transA, Trans transB, int64_t m, int64_t n,
                 int64_t k, const float *a, int64_t lda, const float *b, int64_t ldb,
                 bool accumulate, float *c, int64_t ldc) {
  multiplyBatch(batch, transA, transB, {m, n, k}, a, lda, b, ldb, accumulate, c, ldc);
}

void gemmBatched(std::span<const BatchDim> batch, Trans transA, Trans transB, int64_t m, int64_t n,
                 int64_t k, const double *a, int64_t lda, const double *b, int64_t ldb,
                 bool accumulate, double *c, int64_t ldc) {
  multiplyBatch(batch, transA, transB, {m, n, k}, a, lda, b, ldb, accumulate, c, ldc);
}

double dot(int64_t count, const float *a, const float *b) {
  return computeDot(count, a, b);
}
double dot(int64_t count, const double *a, const double *b) {
  return computeDot(count, a, b);
}

} // namespace titan::rt
