// Matrix products on CPUs: transpositions, batches, precision and limits.
#include "gemm/Gemm.h"
#include "base/Error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <omp.h>
#include <vector>

using namespace titan;
using namespace titan::rt;

namespace {

/// Small integers, so that every product and sum is exact.
template <typename T> std::vector<T> integers(size_t count, int seed) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(static_cast<int>(i * 7 + seed * 13) % 11 - 5);
  return values;
}

template <typename T> class Gemm : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Gemm, Types);

template <typename T>
T at(const std::vector<T> &matrix, int64_t ld, bool transposed, int i, int j) {
  return transposed ? matrix[j * ld + i] : matrix[i * ld + j];
}

// All four transpositions, with leading dimensions larger than rows, accumulated.
TYPED_TEST(Gemm, Transpositions) {
  using T = TypeParam;
  const int m = 5, n = 7, k = 3, ld = 9;
  auto a = integers<T>(ld * ld, 1), b = integers<T>(ld * ld, 2), start = integers<T>(ld * ld, 3);
  for (bool ta : {false, true})
    for (bool tb : {false, true}) {
      auto c = start;
      gemmBatched({}, Trans(ta), Trans(tb), m, n, k, a.data(), ld, b.data(), ld, true, c.data(),
                  ld);
      for (int i = 0; i < ld; ++i)
        for (int j = 0; j < ld; ++j) {
          T want = start[i * ld + j];
          if (i < m && j < n) {
            T sum = 0;
            for (int p = 0; p < k; ++p)
              sum += at(a, ld, ta, i, p) * at(b, ld, tb, p, j);
            want += sum;
          }
          EXPECT_EQ(c[i * ld + j], want) << i << "," << j << " of " << ta << tb;
        }
    }
}

// Without accumulation, C is overwritten, even NaN; an empty sum is zero.
TYPED_TEST(Gemm, IgnoresOverwrittenValues) {
  using T = TypeParam;
  std::vector<T> a{1, 2}, b{3, 4}, c{NAN};
  gemmBatched({}, Trans::No, Trans::No, 1, 1, 2, a.data(), 2, b.data(), 1, false, c.data(), 1);
  EXPECT_EQ(c[0], 11);
  c[0] = NAN;
  gemmBatched({}, Trans::No, Trans::No, 1, 1, 0, a.data(), 2, b.data(), 1, false, c.data(), 1);
  EXPECT_EQ(c[0], 0);
}

// A large k loses no digits: equal terms, whose rounding errors all have one sign. Also with more
// rows than one block of sums, with accumulation, and in both layouts of each operand.
TEST(DeepGemm, KeepsDigits) {
  struct Case {
    int64_t m, n, k;
  };
  for (auto [m, n, k] :
       {Case{1, 1, 1 << 22}, Case{2, 3, 1 << 20}, Case{1100, 2, 17000}, Case{3, 1100, 17000}})
    for (bool ta : {false, true}) {
      const std::vector<float> a(static_cast<size_t>(m * k), 0.3F),
          b(static_cast<size_t>(k * n), 0.3F);
      std::vector<float> c(static_cast<size_t>(m * n), 5);
      gemmBatched({}, Trans(ta), Trans(!ta), m, n, k, a.data(), ta ? m : k, b.data(), ta ? n : k,
                  true, c.data(), n);
      const double want = 5 + static_cast<double>(k) * 0.3F * 0.3F;
      for (float value : c)
        ASSERT_NEAR(value / want, 1, 5e-6) << m << " x " << n << " x " << k;
    }
}

// Batches with shared operands, nested dimensions, and sums over a batch dimension.
TYPED_TEST(Gemm, Batches) {
  using T = TypeParam;
  const int m = 2, n = 3, k = 4, outer = 3, inner = 5;
  auto a = integers<T>(outer * inner * m * k, 1), b = integers<T>(outer * k * n, 2);
  std::vector<T> c(outer * inner * m * n, 100), sum(outer * m * n, 1);
  BatchDim separate[] = {{outer, inner * m * k, k * n, inner * m * n}, {inner, m * k, 0, m * n}};
  gemmBatched(separate, Trans::No, Trans::No, m, n, k, a.data(), k, b.data(), n, false, c.data(),
              n);
  BatchDim summed[] = {{outer, inner * m * k, k * n, m * n}, {inner, m * k, 0, 0}};
  gemmBatched(summed, Trans::No, Trans::No, m, n, k, a.data(), k, b.data(), n, true, sum.data(), n);
  for (int o = 0; o < outer; ++o)
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        T total = 1;
        for (int in = 0; in < inner; ++in) {
          T want = 0;
          for (int p = 0; p < k; ++p)
            want += a[((o * inner + in) * m + i) * k + p] * b[(o * k + p) * n + j];
          EXPECT_EQ(c[((o * inner + in) * m + i) * n + j], want);
          total += want;
        }
        EXPECT_EQ(sum[(o * m + i) * n + j], total);
      }
}

// Extents beyond BLAS's integers are refused, not truncated.
TYPED_TEST(Gemm, RefusesHugeExtents) {
  using T = TypeParam;
  T x = 1;
  int64_t huge = int64_t{1} << 32;
  EXPECT_THROW(gemmBatched({}, Trans::No, Trans::No, 1, 1, huge, &x, huge, &x, 1, false, &x, 1),
               Fault);
}

// The inner product is bitwise equal for any number of threads.
TYPED_TEST(Gemm, DotDoesNotDependOnThreads) {
  using T = TypeParam;
  std::vector<T> a(1'000'003);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = T(1) / static_cast<T>(i + 3);
  int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  double one = dot(a.size(), a.data(), a.data());
  omp_set_num_threads(3);
  double three = dot(a.size(), a.data(), a.data());
  omp_set_num_threads(threads);
  EXPECT_EQ(one, three);
  // sum 1/(i+3)^2 = pi^2/6 - 1 - 1/4 - 1/n
  EXPECT_NEAR(one, M_PI * M_PI / 6 - 1.25 - 1e-6, 1e-6);
  EXPECT_EQ(dot(0, a.data(), a.data()), 0);
}

} // namespace
