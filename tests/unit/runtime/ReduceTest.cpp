// Sums, maxima and minima of complete tensors (kernel_loops.h).
#include "titan/runtime/kernel_loops.h"
#include "titan/runtime/program.h"

#include <gtest/gtest.h>

#include <cmath>
#include <omp.h>
#include <vector>

using namespace titan;
using namespace titan::rt;

namespace {

// Kernels of the CPU ignore their context.
Context &anyContext() {
  static Context context;
  return context;
}

template <typename T> class Reduce : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Reduce, Types);

// Counts leave every kind of remainder: of vectors, of 64 lanes and of chunks. One tensor is empty.
TYPED_TEST(Reduce, UsesEveryTermOnce) {
  using T = TypeParam;
  for (int64_t count : {0, 1, 2, 7, 63, 64, 65, 127, 1000, 1024, 1087, 5000, 262144, 300001}) {
    T sum = -1, most = -1, least = -1;
    titan::rt::tm::sum(anyContext(), &sum, count, [](int64_t i) { return T(i % 5); });
    EXPECT_EQ(sum, T(count / 5 * 10 + (count % 5) * (count % 5 - 1) / 2)) << count;
    if (count == 0)
      continue;
    for (int64_t position : {int64_t{0}, count / 2, count - 1}) {
      titan::rt::tm::maximum(anyContext(), &most, count,
                             [=](int64_t i) { return T(i == position ? 3 : -2); });
      titan::rt::tm::minimum(anyContext(), &least, count,
                             [=](int64_t i) { return T(i == position ? -3 : 2); });
      EXPECT_EQ(most, T(3)) << count << " " << position;
      EXPECT_EQ(least, T(-3)) << count << " " << position;
    }
  }
}

/// The error bound of a float sum, relative to the sum of absolute values (blocked_sum.h).
constexpr double kBound = 1e-6;

// Errors do not grow with the count, even for equal terms, whose rounding errors all have one sign.
TEST(BlockedSum, KeepsDigitsOfManyTerms) {
  for (int64_t count : {1, 2, 127, 128, 1000, 1 << 15, 1 << 20, 1 << 22}) {
    float whole = 0;
    titan::rt::tm::sum(anyContext(), &whole, count, [](int64_t) { return 0.1F; });
    titan::rt::tm::Sum<float> one;
    for (int64_t i = 0; i < count; ++i)
      one.add(0.1F);
    titan::rt::tm::ColumnSums<float> columns(3);
    columns.add(count, [](int64_t, int64_t j) { return 0.1F * static_cast<float>(j); });
    const double want = static_cast<double>(count) * static_cast<double>(0.1F);
    EXPECT_NEAR(whole / want, 1, kBound) << count;
    EXPECT_NEAR(one.get() / want, 1, kBound) << count;
    EXPECT_EQ(columns[0], 0) << count;
    EXPECT_NEAR(columns[1] / want, 1, kBound) << count;
    EXPECT_NEAR(columns[2] / want, 2, 2 * kBound) << count;
  }
}

// A running rescale, as for sums of exponentials when a larger one appears.
TEST(BlockedSum, ScalesAllTermsSoFar) {
  titan::rt::tm::Sum<float> sum;
  for (int i = 0; i < 40; ++i)
    sum.add(1);
  sum.scale(0.5F);
  for (int i = 0; i < 3; ++i)
    sum.add(1);
  EXPECT_EQ(sum.get(), 23);
}

// Every index is in its row's group, in order; indices without a row are in none.
TEST(GroupByRow, KeepsOrder) {
  const std::vector<int64_t> rowOf{2, 0, -1, 2, 3, 0, 2, -1};
  std::vector<int64_t> ends(5), order(rowOf.size(), -9);
  titan::rt::tm::groupByRow(anyContext(), ends.data(), 5, order.data(), 8,
                            [&](int64_t i) { return rowOf[i]; });
  EXPECT_EQ(ends, (std::vector<int64_t>{2, 2, 5, 6, 6}));
  EXPECT_EQ(order, (std::vector<int64_t>{1, 5, 0, 3, 6, 4, -9, -9}));
  EXPECT_EQ(titan::rt::tm::groupBegin(ends.data(), 0), 0);
  EXPECT_EQ(titan::rt::tm::groupBegin(ends.data(), 2), 2);
}

// Bitwise equal for any number of threads, and within the bound: errors do not grow with the count.
TYPED_TEST(Reduce, SumsEquallyWithAnyThreads) {
  using T = TypeParam;
  auto term = [](int64_t i) { return T(1) / (T(i) + 3) / (T(i) + 3); };
  const int64_t count = 1'000'003;
  const int threads = omp_get_max_threads();
  std::vector<T> sums;
  for (int some : {1, 2, 3}) {
    omp_set_num_threads(some);
    sums.push_back(0);
    titan::rt::tm::sum(anyContext(), &sums.back(), count, term);
  }
  omp_set_num_threads(threads);
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_EQ(sums[0], sums[2]);
  const double want = M_PI * M_PI / 6 - 1.25 - 1.0 / (count + 2.5);
  EXPECT_NEAR(sums[0], want, sizeof(T) == 8 ? 1e-13 : 1e-6);
}

// NaN propagates.
TYPED_TEST(Reduce, KeepsNan) {
  using T = TypeParam;
  for (int64_t position : {0, 40, 70, 99}) {
    auto term = [=](int64_t i) { return i == position ? T(NAN) : T(i); };
    T sum = 0, most = 0, least = 0;
    titan::rt::tm::sum(anyContext(), &sum, 100, term);
    titan::rt::tm::maximum(anyContext(), &most, 100, term);
    titan::rt::tm::minimum(anyContext(), &least, 100, term);
    EXPECT_TRUE(std::isnan(sum) && std::isnan(most) && std::isnan(least)) << position;
  }
}

} // namespace
