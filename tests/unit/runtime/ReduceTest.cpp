// Sums, maxima and minima of all of a tensor (kernel_loops.h).
#include "titan/runtime/kernel_loops.h"
#include "titan/runtime/program.h"

#include <gtest/gtest.h>

#include <cmath>
#include <omp.h>
#include <vector>

using namespace titan::rt;

namespace {

// The loops take a context for the sake of devices and do not look at it here.
Context &nowhere() {
  static Context context;
  return context;
}

template <typename T> class Reduce : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Reduce, Types);

// Every remainder of a vector, of 64 lanes, of chunks; none at all.
TYPED_TEST(Reduce, TakesEveryTermOnce) {
  using T = TypeParam;
  for (int64_t count : {0, 1, 2, 7, 63, 64, 65, 127, 1000, 1024, 1087, 5000, 262144, 300001}) {
    T sum = -1, most = -1, least = -1;
    titan::rt::tm::sum(nowhere(), &sum, count, [](int64_t i) { return T(i % 5); });
    EXPECT_EQ(sum, T(count / 5 * 10 + (count % 5) * (count % 5 - 1) / 2)) << count;
    if (count == 0)
      continue;
    for (int64_t place : {int64_t{0}, count / 2, count - 1}) {
      titan::rt::tm::maximum(nowhere(), &most, count,
                             [=](int64_t i) { return T(i == place ? 3 : -2); });
      titan::rt::tm::minimum(nowhere(), &least, count,
                             [=](int64_t i) { return T(i == place ? -3 : 2); });
      EXPECT_EQ(most, T(3)) << count << " " << place;
      EXPECT_EQ(least, T(-3)) << count << " " << place;
    }
  }
}

// The same bits for any number of threads, and close to the limit: errors do not grow with the
// count.
TYPED_TEST(Reduce, SumsAlikeOnAnyThreads) {
  using T = TypeParam;
  auto term = [](int64_t i) { return T(1) / (T(i) + 3) / (T(i) + 3); };
  const int64_t count = 1'000'003;
  const int threads = omp_get_max_threads();
  std::vector<T> sums;
  for (int some : {1, 2, 3}) {
    omp_set_num_threads(some);
    sums.push_back(0);
    titan::rt::tm::sum(nowhere(), &sums.back(), count, term);
  }
  omp_set_num_threads(threads);
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_EQ(sums[0], sums[2]);
  const double want = M_PI * M_PI / 6 - 1.25 - 1.0 / (count + 2.5);
  EXPECT_NEAR(sums[0], want, sizeof(T) == 8 ? 1e-13 : 1e-6);
}

// What is not a number is not lost among the others.
TYPED_TEST(Reduce, KeepsNan) {
  using T = TypeParam;
  for (int64_t place : {0, 40, 70, 99}) {
    auto term = [=](int64_t i) { return i == place ? T(NAN) : T(i); };
    T sum = 0, most = 0, least = 0;
    titan::rt::tm::sum(nowhere(), &sum, 100, term);
    titan::rt::tm::maximum(nowhere(), &most, 100, term);
    titan::rt::tm::minimum(nowhere(), &least, 100, term);
    EXPECT_TRUE(std::isnan(sum) && std::isnan(most) && std::isnan(least)) << place;
  }
}

} // namespace
