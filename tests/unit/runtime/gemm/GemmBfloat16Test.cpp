// bf16 GEMM on this processor's backend; CMakeLists.txt also runs the tests with widening.
#include "gemm/Gemm.h"

#include "gemm/Amx.h"
#include "gemm/VectorUnit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <omp.h>
#include <string>
#include <vector>

using namespace titan;
using namespace titan::rt;

namespace {

/// Small integers, so that every product and sum is exact.
template <typename T> std::vector<T> integers(int64_t count, int seed) {
  std::vector<T> values(static_cast<size_t>(count));
  uint32_t state = static_cast<uint32_t>(seed) * 2654435761u + 1;
  for (T &value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<int>(state >> 24) % 11 - 5);
  }
  return values;
}

std::vector<bf16> fractions(int64_t count, int seed) {
  std::vector<bf16> values = integers<bf16>(count, seed);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(values[i]) / static_cast<float>(3 + i % 7);
  return values;
}

struct Case {
  int64_t m, n, k;
  bool transA, transB, accumulate;
};

/// One product in memory with leading dimensions larger than necessary, and its expected result.
template <typename To> struct Product {
  explicit Product(const Case &s, int64_t longerA = 4)
      : s(s), lda((s.transA ? s.m : s.k) + longerA), ldb((s.transB ? s.k : s.n) + 5), ldc(s.n + 2),
        a(integers<bf16>(lda * (s.transA ? s.k : s.m), 1)),
        b(integers<bf16>(ldb * (s.transB ? s.n : s.k), 2)), start(integers<To>(ldc * s.m, 3)),
        c(start) {}

  void run() {
    gemmBatched({}, Trans(s.transA), Trans(s.transB), s.m, s.n, s.k, a.data(), lda, b.data(), ldb,
                s.accumulate, c.data(), ldc);
  }

  /// Computed by the f32 GEMM, which has its own tests.
  std::vector<To> expected() const {
    std::vector<float> wideA(a.begin(), a.end()), wideB(b.begin(), b.end());
    std::vector<float> sums(start.begin(), start.end());
    gemmBatched({}, Trans(s.transA), Trans(s.transB), s.m, s.n, s.k, wideA.data(), lda,
                wideB.data(), ldb, s.accumulate, sums.data(), ldc);
    std::vector<To> result = start;
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t j = 0; j < s.n; ++j)
        result[i * ldc + j] = sums[i * ldc + j];
    return result;
  }

  Case s;
  int64_t lda, ldb, ldc;
  std::vector<bf16> a, b;
  std::vector<To> start, c;
};

template <typename To> void check(const Case &s) {
  Product<To> product(s);
  product.run();
  const std::vector<To> want = product.expected();
  for (size_t i = 0; i < want.size(); ++i)
    ASSERT_EQ(float(product.c[i]), float(want[i]))
        << s.m << "x" << s.n << "x" << s.k << (s.transA ? " A'" : "") << (s.transB ? " B'" : "")
        << (s.accumulate ? " added" : "") << " at " << i / product.ldc << "," << i % product.ldc;
}

template <typename To> class GemmBfloat16 : public testing::Test {};
using Results = testing::Types<float, bf16>;
TYPED_TEST_SUITE(GemmBfloat16, Results);

// All remainders of a block of 32 and its halves, in all three extents; memory next to C is
// unchanged.
TYPED_TEST(GemmBfloat16, RaggedEdges) {
  int variant = 0;
  for (int64_t m : {1, 2, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 70})
    for (int64_t n : {1, 3, 16, 17, 31, 32, 33, 49, 64, 70})
      for (int64_t k : {0, 1, 2, 3, 16, 31, 32, 33, 63, 64, 65, 70}) {
        ++variant;
        check<TypeParam>({m, n, k, bool(variant & 1), bool(variant & 2), bool(variant & 4)});
        check<TypeParam>({m, n, k, !(variant & 1), bool(variant & 2), !(variant & 4)});
      }
}

// More than one cache block in each extent.
TYPED_TEST(GemmBfloat16, Large) {
  for (bool accumulate : {false, true}) {
    check<TypeParam>({70, 45, 3200, false, true, accumulate});
    check<TypeParam>({1100, 40, 800, true, false, accumulate});
    check<TypeParam>({33, 2100, 1700, false, false, accumulate});
    check<TypeParam>({1, 300, 4500, false, true, accumulate});
    check<TypeParam>({3, 150, 4500, true, false, accumulate});
    check<TypeParam>({700, 1, 4500, false, false, accumulate});
    check<TypeParam>({600, 700, 900, true, true, accumulate});
  }
}

// Bitwise equal for any number of threads.
TYPED_TEST(GemmBfloat16, DoesNotDependOnThreads) {
  Product<TypeParam> product({300, 410, 900, false, true, false});
  product.a = fractions(static_cast<int64_t>(product.a.size()), 4);
  product.b = fractions(static_cast<int64_t>(product.b.size()), 5);
  const int threads = omp_get_max_threads();
  std::vector<std::vector<TypeParam>> results;
  for (int some : {1, 2, 3, 6}) {
    omp_set_num_threads(some);
    product.run();
    results.push_back(product.c);
  }
  omp_set_num_threads(threads);
  for (size_t other = 1; other < results.size(); ++other)
    for (size_t i = 0; i < results[0].size(); ++i)
      ASSERT_EQ(float(results[other][i]), float(results[0][i]));
}

// A row is bitwise equal in products of few or many rows, for both layouts of B.
TYPED_TEST(GemmBfloat16, DoesNotDependOnRows) {
  if (!floatVectors() || std::getenv("TITAN_F32"))
    GTEST_SKIP() << "BLAS's";
  for (bool transB : {false, true}) {
    Product<TypeParam> many({40, 150, 4500, false, transB, false});
    many.a = fractions(static_cast<int64_t>(many.a.size()), 4);
    many.b = fractions(static_cast<int64_t>(many.b.size()), 5);
    Product<TypeParam> few = many;
    many.run();
    for (int64_t rows : {1, 2, 3, 15}) {
      few.s.m = rows;
      few.run();
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < 150; ++j)
          ASSERT_EQ(float(few.c[i * few.ldc + j]), float(many.c[i * many.ldc + j]))
              << rows << " rows" << (transB ? " B'" : "") << " at " << i << "," << j;
    }
  }
}

// Pairs are read unpacked if every row starts at a pair boundary, else packed.
TYPED_TEST(GemmBfloat16, DoesNotDependOnWhereRowsBegin) {
  for (int64_t k : {64, 190, 2500}) {
    const Case rows{45, 70, k, false, false, false};
    Product<TypeParam> even(rows, 4), odd(rows, 5);
    even.a = fractions(static_cast<int64_t>(even.a.size()), 4);
    even.b = odd.b = fractions(static_cast<int64_t>(even.b.size()), 5);
    for (int64_t i = 0; i < rows.m; ++i)
      std::copy_n(&even.a[i * even.lda], k, &odd.a[i * odd.lda]);
    even.run();
    odd.run();
    for (size_t i = 0; i < even.c.size(); ++i)
      ASSERT_EQ(float(even.c[i]), float(odd.c[i])) << "at " << i << " of depth " << k;
  }
}

// AMX can be disabled.
TEST(GemmBfloat16Backends, VectorsDoWithoutTiles) {
  const char *asked = std::getenv("TITAN_BF16");
  if (!asked || asked != std::string("vectors"))
    GTEST_SKIP() << "not asked";
  EXPECT_FALSE(amx::isAvailable());
}

// Sums that round are close to those in double: their error is float's, not bf16's.
TEST(GemmBfloat16Sums, AreMadeInFloat) {
  Product<float> product({40, 50, 2000, false, false, false});
  product.a = fractions(static_cast<int64_t>(product.a.size()), 6);
  product.b = fractions(static_cast<int64_t>(product.b.size()), 7);
  product.run();
  for (int64_t i = 0; i < product.s.m; ++i)
    for (int64_t j = 0; j < product.s.n; ++j) {
      double want = 0, magnitude = 0;
      for (int64_t p = 0; p < product.s.k; ++p) {
        const double term = double(float(product.a[i * product.lda + p])) *
                            double(float(product.b[p * product.ldb + j]));
        want += term;
        magnitude += std::abs(term);
      }
      ASSERT_NEAR(product.c[i * product.ldc + j], want, 4e-6 * magnitude);
    }
}

// Infinity and NaN stay in their row and column, also next to padding.
TEST(GemmBfloat16Sums, KeepInfinities) {
  Product<float> product({37, 41, 35, false, false, false});
  product.a.assign(product.a.size(), 1.0f);
  product.b.assign(product.b.size(), 1.0f);
  product.a[36 * product.lda + 34] = INFINITY;
  product.b[34 * product.ldb + 40] = NAN;
  product.run();
  for (int64_t i = 0; i < 37; ++i)
    for (int64_t j = 0; j < 41; ++j) {
      const float value = product.c[i * product.ldc + j];
      if (j == 40)
        EXPECT_TRUE(std::isnan(value));
      else
        EXPECT_EQ(value, i == 36 ? INFINITY : 35.0f);
    }
}

// A batch of small products with shared operands, and one with a fixed result: a sum.
TEST(GemmBfloat16Batch, MovesOperands) {
  std::vector<bf16> a{1, 2, 3, 4}, b{5, 6, 7, 8};
  std::vector<float> c{0, 0};
  BatchDim each[] = {{2, 2, 2, 1}}, sum[] = {{2, 2, 2, 0}};
  gemmBatched(each, Trans::No, Trans::No, 1, 1, 2, a.data(), 2, b.data(), 1, false, c.data(), 1);
  EXPECT_EQ(c, (std::vector<float>{17, 53}));
  c = {1, 0};
  gemmBatched(sum, Trans::No, Trans::No, 1, 1, 2, a.data(), 2, b.data(), 1, true, c.data(), 1);
  EXPECT_EQ(c[0], 71);
}

// Rounding is to nearest, ties to even; NaN stays NaN.
TEST(Bfloat16, Rounding) {
  const float ulp = 0x1p-7f;
  EXPECT_EQ(float(bf16(1 + ulp / 2)), 1);
  EXPECT_EQ(float(bf16(1 + 3 * ulp / 2)), 1 + 2 * ulp);
  EXPECT_EQ(float(bf16(-1 - 0.6f * ulp)), -1 - ulp);
  EXPECT_EQ(float(bf16(3.4e38f)), INFINITY);
  EXPECT_TRUE(std::isnan(float(bf16(NAN))));
  EXPECT_TRUE(std::isnan(float(bf16(-NAN))));
}

} // namespace
