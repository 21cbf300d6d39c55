// Errors of vectorised functions, in units in the last place.
#include "base/math/VectorMath.h"
#include "base/math/VectorErf.h"
#include "base/math/VectorPeriodic.h"
#include "titan/runtime/kernel_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

using namespace titan;
using namespace titan::rt;

namespace {

/// The error of `got` in units in the last place of T.
template <typename T> double ulps(T got, long double want) {
  T rounded = static_cast<T>(want);
  if (got == rounded)
    return 0;
  T next = std::nextafter(std::abs(rounded), std::numeric_limits<T>::infinity());
  return static_cast<double>(std::abs((long double)got - want) / (next - std::abs(rounded)));
}

template <typename T, typename Function, typename Reference>
double worst(T low, T high, Function function, Reference reference) {
  double largest = 0;
  const int points = 200001;
  for (int i = 0; i < points; ++i) {
    T x = low + (high - low) * static_cast<T>(i) / (points - 1);
    largest = std::max(largest, ulps(function(x), reference(static_cast<long double>(x))));
  }
  return largest;
}

template <typename T> class VectorMath : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(VectorMath, Types);

long double sigmoidReference(long double x) {
  return 1 / (1 + std::exp(-x));
}
long double exp2Reference(long double x) {
  return std::exp2(x);
}
long double expReference(long double x) {
  return std::exp(x);
}
long double expm1Reference(long double x) {
  return std::expm1(x);
}
long double tanhReference(long double x) {
  return std::tanh(x);
}

// Every function has at most the error that its header promises.
TYPED_TEST(VectorMath, Accuracy) {
  using T = TypeParam;
  bool narrow = sizeof(T) == 4;
  auto exp = [](T x) { return vexp(x); };
  EXPECT_LE(worst<T>(narrow ? -87 : -708, narrow ? 88 : 709, exp, expReference), 1.5);
  EXPECT_LE(worst<T>(-1, 1, exp, expReference), 1.5);
  auto exp2 = [](T x) { return vexp2(x); };
  EXPECT_LE(worst<T>(narrow ? -126 : -1022, narrow ? 127 : 1023, exp2, exp2Reference), 1.5);
  auto nonPositive = [](T x) { return vexp2NonPositive(x); };
  EXPECT_LE(worst<T>(narrow ? -126 : -1022, 0, nonPositive, exp2Reference), 1.5);
  auto expm1 = [](T x) { return vexpm1(x); };
  EXPECT_LE(worst<T>(-30, 30, expm1, expm1Reference), 2.5);
  EXPECT_LE(worst<T>(-1e-3, 1e-3, expm1, expm1Reference), 2.5);
  auto tanh = [](T x) { return vtanh(x); };
  EXPECT_LE(worst<T>(-20, 20, tanh, tanhReference), 4);
  EXPECT_LE(worst<T>(-1e-2, 1e-2, tanh, tanhReference), 4);
  auto sigmoid = [](T x) { return vsigmoid(x); };
  EXPECT_LE(worst<T>(narrow ? -80 : -700, 80, sigmoid, sigmoidReference), 4);
}

TYPED_TEST(VectorMath, LogarithmAccuracy) {
  using T = TypeParam;
  auto log = [](T x) { return vlog(x); };
  auto reference = [](long double x) { return std::log(x); };
  constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  EXPECT_LE(worst<T>(T(0.5), 2, log, reference), 1);
  EXPECT_LE(worst<T>(1 - T(1e-4), 1 + T(1e-4), log, reference), 1);
  EXPECT_LE(worst<T>(T(1e-3), 1, log, reference), 1);
  EXPECT_LE(worst<T>(least, 1000 * least, log, reference), 1);
  EXPECT_LE(worst<T>(most / 1000, most, log, reference), 1);
  EXPECT_LE(worst<T>(std::numeric_limits<T>::denorm_min(), least, log, reference), 1);
}

TYPED_TEST(VectorMath, SineAndCosineAccuracy) {
  using T = TypeParam;
  bool narrow = sizeof(T) == 4;
  auto sine = [](T x) { return vsin(x); };
  auto cosine = [](T x) { return vcos(x); };
  auto sineReference = [](long double x) { return std::sin(x); };
  auto cosineReference = [](long double x) { return std::cos(x); };
  for (T end : {T(1), T(10), T(1e4), T(narrow ? 1e8 : 3e9)}) {
    EXPECT_LE(worst<T>(-end, end, sine, sineReference), 2.5) << end;
    EXPECT_LE(worst<T>(-end, end, cosine, cosineReference), 2.5) << end;
  }
  // Near a zero of one function, which T represents only approximately.
  for (int quarters : {1, 2, 3, 1000, 12345}) {
    const T zero = static_cast<T>(quarters * (M_PIl / 2));
    EXPECT_LE(ulps(vsin(zero), std::sin(static_cast<long double>(zero))), 2) << quarters;
    EXPECT_LE(ulps(vcos(zero), std::cos(static_cast<long double>(zero))), 2) << quarters;
  }
}

TYPED_TEST(VectorMath, ErrorFunctionAccuracy) {
  using T = TypeParam;
  auto erf = [](T x) { return verf(x); };
  auto reference = [](long double x) { return std::erf(x); };
  EXPECT_LE(worst<T>(-7, 7, erf, reference), 2);
  EXPECT_LE(worst<T>(T(-1.1), T(1.1), erf, reference), 2);
  EXPECT_LE(worst<T>(T(-1e-3), T(1e-3), erf, reference), 2);
}

TEST(VectorMath, CosineOfTurnsAccuracy) {
  auto cosine = [](double x) { return vcosTurns(x); };
  // The reference needs a precise quarter too.
  auto reference = [](long double x) {
    const long double quarters = std::round(4 * x), r = (4 * x - quarters) * (M_PIl / 2);
    switch (static_cast<int>(quarters) % 4) {
    case 0:
      return std::cos(r);
    case 1:
      return -std::sin(r);
    case 2:
      return -std::cos(r);
    default:
      return std::sin(r);
    }
  };
  EXPECT_LE(worst<double>(0, 1, cosine, reference), 2);
  EXPECT_LE(worst<double>(0.25 - 1e-6, 0.25 + 1e-6, cosine, reference), 2);
  EXPECT_EQ(vcosTurns(0), 1);
  EXPECT_EQ(vcosTurns(0.25), 0);
  EXPECT_EQ(vcosTurns(0.5), -1);
  EXPECT_EQ(vcosTurns(1), 1);
}

// The ends of the range: infinity, zero, subnormals, NaN.
TYPED_TEST(VectorMath, Limits) {
  using T = TypeParam;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  EXPECT_EQ(vexp(T(0)), T(1));
  EXPECT_EQ(vexp(infinity), infinity);
  EXPECT_EQ(vexp(-infinity), T(0));
  EXPECT_EQ(vexp(T(1e4)), infinity);
  EXPECT_EQ(vexp2(T(-3)), T(0.125));
  EXPECT_EQ(vexp2(infinity), infinity);
  EXPECT_GT(vexp2(std::numeric_limits<T>::min_exponent - T(10)), T(0)) << "subnormals are kept";
  EXPECT_EQ(vexp2NonPositive(-infinity), T(0));
  EXPECT_EQ(vexp2NonPositive(T(0)), T(1));
  EXPECT_TRUE(std::isnan(vexp(nan)));
  EXPECT_TRUE(std::isnan(vexp2(nan)));
  EXPECT_TRUE(std::isnan(vexp2NonPositive(nan)));
  EXPECT_TRUE(std::isnan(vtanh(nan)));
  EXPECT_EQ(vtanh(infinity), T(1));
  EXPECT_EQ(vtanh(-infinity), T(-1));
  EXPECT_EQ(vsigmoid(T(0)), T(0.5));
  EXPECT_EQ(vsigmoid(T(-1e4)), T(0));
  EXPECT_EQ(vsilu(T(0)), T(0));
  EXPECT_EQ(vlog(T(1)), T(0));
  EXPECT_EQ(vlog(T(0)), -infinity);
  EXPECT_EQ(vlog(infinity), infinity);
  EXPECT_TRUE(std::isnan(vlog(T(-1))));
  EXPECT_TRUE(std::isnan(vlog(nan)));
  EXPECT_EQ(verf(infinity), T(1));
  EXPECT_EQ(verf(-infinity), T(-1));
  EXPECT_TRUE(std::isnan(verf(nan)));
  for (T huge : {T(1e20), std::numeric_limits<T>::max()}) {
    EXPECT_LE(std::abs(vsin(huge)), T(1));
    EXPECT_LE(std::abs(vcos(huge)), T(1));
  }
  EXPECT_TRUE(std::isnan(vsin(infinity)));
  EXPECT_TRUE(std::isnan(vcos(nan)));
}

// In a simd loop, values equal those of single calls.
TYPED_TEST(VectorMath, LoopsGiveTheSame) {
  using T = TypeParam;
  std::vector<T> x(1003), y(1003);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = T(0.01) * static_cast<T>(i) - 5;
#pragma omp simd
  for (size_t i = 0; i < x.size(); ++i)
    y[i] = vexp(x[i]);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_LE(ulps(y[i], std::exp(static_cast<long double>(x[i]))), 1.5);
}

// The angles of rotary embeddings: their error is two roundings, of the angle and of the logarithm
// of its frequency.
template <typename T> void checkRotation(int64_t position, double theta, int64_t n) {
  std::vector<T> cosines(n), sines(n), ofList(n), ignored(n);
  std::vector<double> frequencies(n);
  for (int64_t i = 0; i < n; ++i)
    frequencies[i] = titan::rt::tm::frequency(theta, i, n);
  titan::rt::tm::rotation(position, theta, n, cosines.data(), sines.data());
  titan::rt::tm::rotation(position, static_cast<const double *>(frequencies.data()), n,
                          ofList.data(), ignored.data());
  for (int64_t i = 0; i < n; ++i) {
    const long double angle =
        position * std::pow((long double)theta, -(long double)i / (long double)n);
    const double logarithm = std::log(theta) * double(i) / double(n);
    const double bound =
        0x1p-52 * (2 + logarithm) * double(angle) + 2 * std::numeric_limits<T>::epsilon();
    ASSERT_NEAR(cosines[i], double(std::cos(angle)), bound) << position << ", " << i << "/" << n;
    ASSERT_NEAR(sines[i], double(std::sin(angle)), bound) << position << ", " << i << "/" << n;
    ASSERT_NEAR(ofList[i], double(std::cos(angle)), bound) << position << ", " << i << "/" << n;
  }
}

TYPED_TEST(VectorMath, Rotation) {
  for (int64_t position : {0, 1, 2, 511, 4095, 131071})
    for (double theta : {10000.0, 500000.0, 2.0})
      for (int64_t n : {1, 3, 32, 64})
        checkRotation<TypeParam>(position, theta, n);
}

} // namespace
