// f32 GEMM on AMX or vectors. Without both, BLAS computes it, and tests of our own kernels are
// skipped.
#include "gemm/Gemm.h"

#include "gemm/Amx.h"
#include "gemm/VectorUnit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <omp.h>
#include <random>
#include <vector>

using namespace titan;
using namespace titan::rt;

namespace {

/// Whether our own kernels compute the products.
bool isBlocked() {
  return !std::getenv("TITAN_F32") && (amx::isAvailable() || floatVectors());
}

/// Numbers with all 24 significant bits, both signs, and exponents that differ by some powers of
/// two.
std::vector<float> numbers(int64_t count, int seed, int spread) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::uniform_real_distribution<float> mantissa(-1, 1);
  std::uniform_int_distribution<int> exponent(-spread, spread);
  std::vector<float> values(static_cast<size_t>(count));
  for (float &value : values)
    value = std::ldexp(mantissa(random), exponent(random));
  return values;
}

struct Case {
  int64_t m, n, k;
  bool transA, transB, accumulate;
  int spread = 0;
};

/// One product in memory with leading dimensions larger than necessary.
struct Product {
  explicit Product(const Case &s)
      : s(s), lda((s.transA ? s.m : s.k) + 3), ldb((s.transB ? s.k : s.n) + 5), ldc(s.n + 2),
        a(numbers(lda * (s.transA ? s.k : s.m), 1, s.spread)),
        b(numbers(ldb * (s.transB ? s.n : s.k), 2, s.spread)), start(numbers(ldc * s.m, 3, 0)),
        c(start) {}

  void run() {
    gemmBatched({}, Trans(s.transA), Trans(s.transB), s.m, s.n, s.k, a.data(), lda, b.data(), ldb,
                s.accumulate, c.data(), ldc);
  }
  double left(int64_t i, int64_t p) const { return a[s.transA ? p * lda + i : i * lda + p]; }
  double right(int64_t p, int64_t j) const { return b[s.transB ? j * ldb + p : p * ldb + j]; }

  Case s;
  int64_t lda, ldb, ldc;
  std::vector<float> a, b, start, c;
};

/// Compares with sums in double. The error is at most some float roundings of the terms' magnitude,
/// where the smallest counted term is 2^-16 of a number. Memory next to C is unchanged.
void check(const Case &s) {
  Product product(s);
  product.run();
  for (int64_t i = 0; i < s.m; ++i)
    for (int64_t j = 0; j < product.ldc; ++j) {
      const int64_t at = i * product.ldc + j;
      if (j >= s.n) {
        ASSERT_EQ(product.c[at], product.start[at]) << i << "," << j;
        continue;
      }
      double want = s.accumulate ? product.start[at] : 0, magnitude = std::abs(want);
      for (int64_t p = 0; p < s.k; ++p) {
        const double term = product.left(i, p) * product.right(p, j);
        want += term;
        magnitude += std::abs(term);
      }
      ASSERT_NEAR(product.c[at], want, 0x1p-20 * magnitude)
          << s.m << "x" << s.n << "x" << s.k << (s.transA ? " A'" : "") << (s.transB ? " B'" : "")
          << (s.accumulate ? " added" : "") << " at " << i << "," << j;
    }
}

// Remainders of vectors and of panels of 14 and 32, in all three extents.
TEST(BlockedGemm, Small) {
  int variant = 0;
  for (int64_t m : {1, 2, 3, 13, 14, 15, 29, 63})
    for (int64_t n : {1, 15, 16, 17, 31, 32, 33, 63, 200})
      for (int64_t k : {0, 1, 2, 15, 16, 17, 33, 300})
        for (bool accumulate : {false, true}) {
          check({m, n, k, bool(variant & 1), bool(variant & 2), accumulate});
          ++variant;
        }
}

// Remainders of blocks of 32 and of their halves, for products that are large enough for AMX.
TEST(BlockedGemm, RaggedEdges) {
  int variant = 0;
  for (int64_t m : {128, 129, 143, 144, 161})
    for (int64_t n : {128, 130, 145, 191})
      for (int64_t k : {64, 65, 81}) {
        ++variant;
        check({m, n, k, bool(variant & 1), bool(variant & 2), bool(variant & 4)});
        check({m, n, k, !(variant & 1), bool(variant & 2), !(variant & 4)});
      }
}

// Rows with equal page offsets, which wide vectors do not read unpacked.
TEST(BlockedGemm, RowsAPageApart) {
  for (bool transB : {false, true})
    check({29, 63, 1021, false, transB, false}); // 3 more in memory
}

// More than one cache block in each extent.
TEST(BlockedGemm, Large) {
  for (bool accumulate : {false, true}) {
    check({129, 131, 2100, false, true, accumulate});
    check({1100, 133, 70, true, false, accumulate});
    check({130, 1090, 65, false, false, accumulate});
    check({1030, 530, 64, true, true, accumulate});
  }
}

// A number of rows for which whole-panel blocks are one fewer than equal blocks.
TEST(BlockedGemm, ManyRows) {
  check({262144, 4, 1, false, false, false});
}

// Small terms next to large ones count as in a float product.
TEST(BlockedGemm, KeepsTheAccuracyOfFloats) {
  check({128, 128, 600, false, false, false, 12});
  check({128, 128, 600, true, true, true, 30});
}

// A split product has no larger error than sequential float summation.
TEST(BlockedGemm, IsAsAccurateAsFloats) {
  for (int spread : {0, 4, 12}) {
    Product product({128, 128, 768, false, false, false, spread});
    product.run();
    double made = 0, plain = 0;
    for (int64_t i = 0; i < product.s.m; ++i)
      for (int64_t j = 0; j < product.s.n; ++j) {
        double want = 0, magnitude = 0;
        float sum = 0;
        for (int64_t p = 0; p < product.s.k; ++p) {
          const double term = product.left(i, p) * product.right(p, j);
          want += term;
          magnitude += std::abs(term);
          sum = static_cast<float>(sum + term);
        }
        made += std::pow((product.c[i * product.ldc + j] - want) / magnitude, 2);
        plain += std::pow((sum - want) / magnitude, 2);
      }
    EXPECT_LE(made, plain) << "numbers between 2^-" << spread << " and 2^" << spread;
  }
}

// All bits of an operand are used: A times the identity is A.
TEST(BlockedGemm, LosesNoBit) {
  const int64_t size = 160;
  std::vector<float> a = numbers(size * size, 4, 20), identity(size * size), c(size * size);
  for (int64_t i = 0; i < size; ++i)
    identity[i * size + i] = 1;
  for (bool transposed : {false, true})
    for (bool isLeft : {false, true}) {
      const std::vector<float> &left = isLeft ? a : identity, &right = isLeft ? identity : a;
      gemmBatched({}, Trans(isLeft && transposed), Trans(!isLeft && transposed), size, size, size,
                  left.data(), size, right.data(), size, false, c.data(), size);
      for (int64_t i = 0; i < size; ++i)
        for (int64_t j = 0; j < size; ++j)
          ASSERT_EQ(c[i * size + j], transposed ? a[j * size + i] : a[i * size + j]);
    }
}

// Bitwise equal for any number of threads and repeatedly, also in a batch that threads divide.
TEST(BlockedGemm, DoesNotDependOnThreads) {
  if (!isBlocked())
    GTEST_SKIP() << "BLAS's";
  Product product({300, 610, 1100, false, true, false});
  const int threads = omp_get_max_threads();
  std::vector<std::vector<float>> results;
  for (int some : {1, 2, 2, 3, 6}) {
    omp_set_num_threads(some);
    product.run();
    results.push_back(product.c);
  }
  omp_set_num_threads(threads);
#pragma omp parallel num_threads(2)
#pragma omp single
  product.run();
  results.push_back(product.c);
  for (size_t other = 1; other < results.size(); ++other)
    ASSERT_EQ(results[other], results[0]);
}

// On vectors, an element is bitwise equal in any product of its row and column.
TEST(BlockedGemm, DependsOnDepthAlone) {
  if (!isBlocked() || amx::isAvailable())
    GTEST_SKIP() << "not on vectors, or on tiles, too";
  const int64_t size = 127, depth = 1500;
  for (bool transB : {false, true}) {
    Product whole({size, size, depth, false, transB, false});
    whole.run();
    for (int64_t rows : {1, 3, 14, 31})
      for (int64_t columns : {1, 16, 50}) {
        const int64_t row = size - rows, column = size - columns;
        std::vector<float> c(static_cast<size_t>(rows * columns));
        gemmBatched({}, Trans::No, Trans(transB), rows, columns, depth,
                    whole.a.data() + row * whole.lda, whole.lda,
                    whole.b.data() + column * (transB ? whole.ldb : 1), whole.ldb, false, c.data(),
                    columns);
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < columns; ++j)
            ASSERT_EQ(c[i * columns + j], whole.c[(row + i) * whole.ldc + column + j])
                << rows << "x" << columns << (transB ? " B'" : "") << " at " << i << "," << j;
      }
  }
}

// NaN and infinity affect only their row and column.
TEST(BlockedGemm, KeepsNonFiniteValues) {
  Product product({129, 131, 65, false, false, false});
  product.a[128 * product.lda + 64] = INFINITY;
  product.b[64 * product.ldb + 130] = NAN;
  product.run();
  for (int64_t i = 0; i < 129; ++i)
    for (int64_t j = 0; j < 131; ++j)
      EXPECT_EQ(std::isfinite(product.c[i * product.ldc + j]), i != 128 && j != 130)
          << i << "," << j;
}

// Many threads with one product each do not wait for one another.
TEST(BlockedGemm, InABatch) {
  const int64_t size = 128, count = 9;
  std::vector<float> a = numbers(count * size * size, 5, 0), b = numbers(size * size, 6, 0);
  std::vector<float> c(a.size()), each(a.size());
  const BatchDim batch[] = {{count, size * size, 0, size * size}};
  gemmBatched(batch, Trans::No, Trans::Yes, size, size, size, a.data(), size, b.data(), size, false,
              c.data(), size);
  for (int64_t i = 0; i < count; ++i)
    gemmBatched({}, Trans::No, Trans::Yes, size, size, size, a.data() + i * size * size, size,
                b.data(), size, false, each.data() + i * size * size, size);
  EXPECT_EQ(c, each);
}

} // namespace
