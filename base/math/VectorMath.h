// Vectorisable elementary functions: straight-line code without calls, tables or branches, for
// float and double, for the `#pragma omp simd` loops of emitted kernels. A loop over libm calls
// runs one element at a time.
//
//   function        largest error seen over its range (units in the last place; see VectorMathTest)
//   vexp, vexp2     1.5     overflow to infinity, underflow through subnormals to 0, NaN propagates
//   vexpm1          2.5     accurate near 0
//   vlog            1       -infinity at 0, NaN for negative numbers
//   vtanh, vsigmoid 4
//
// Method of the exponential: x = n ln 2 + r with |r| <= ln(2)/2. Adding a large constant rounds to
// n. (e^r - 1) / r is a Chebyshev fit (computed with mpmath). The power of two is built from its
// exponent bits, in two factors to cover both ends of the range. The logarithm writes x = 2^k m
// with m around 1, and uses s = (m - 1) / (m + 1) and a fit of the artanh series. The order of its
// additions follows K. Ng (fdlibm, Sun Microsystems, 1993). Do not compile with -ffast-math, which
// would remove the rounding.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#define TITAN_VECTOR_INLINE inline __attribute__((always_inline))

namespace titan {

namespace vector_math {

template <typename T> struct Constants;

template <> struct Constants<float> {
  using Bits = int32_t;
  static constexpr float magic = 12582912.0f; // 1.5 * 2^23
  static constexpr int mantissaBits = 23, bias = 127;
  static constexpr float log2e = 1.44269504088896341f;
  static constexpr float ln2High = 0.693145751953125f; // 16 bits: exact times any n
  static constexpr float ln2Low = 1.42860682030941723e-6f;
  static constexpr float lowest = -104.0f, highest = 89.0f; // beyond: 0 and infinity
  static constexpr float lowest2 = -150.0f, highest2 = 128.0f;
};

template <> struct Constants<double> {
  using Bits = int64_t;
  static constexpr double magic = 6755399441055744.0; // 1.5 * 2^52
  static constexpr int mantissaBits = 52, bias = 1023;
  static constexpr double log2e = 1.44269504088896340736;
  static constexpr double ln2High = 0x1.62e42fee00000p-1; // 33 bits
  static constexpr double ln2Low = 0x1.a39ef35793c76p-33;
  static constexpr double lowest = -746.0, highest = 710.0;
  static constexpr double lowest2 = -1076.0, highest2 = 1024.0;
};

/// (e^r - 1) / r for |r| <= ln(2)/2.
TITAN_VECTOR_INLINE float expm1Ratio(float r) {
  float p = 0.00139336499963f;
  p = p * r + 0.00836915567570f;
  p = p * r + 0.04166646492529f;
  p = p * r + 0.16666505195758f;
  p = p * r + 0.50000000134658f;
  return p * r + 1.0f;
}

TITAN_VECTOR_INLINE double expm1Ratio(double r) {
  double p = 0x1.1f7f2776cfaf2p-29;
  p = p * r + 0x1.af632a0f7e2cep-26;
  p = p * r + 0x1.27e4d41966f2fp-22;
  p = p * r + 0x1.71ddf56d8deb5p-19;
  p = p * r + 0x1.a01a01a9e991bp-16;
  p = p * r + 0x1.a01a01b1461c5p-13;
  p = p * r + 0x1.6c16c16c15a68p-10;
  p = p * r + 0x1.111111110f21ep-7;
  p = p * r + 0x1.5555555555557p-5;
  p = p * r + 0x1.555555555555ap-3;
  p = p * r + 0x1.0000000000000p-1;
  return p * r + 1.0;
}

/// 2^n for exponents n of normal numbers.
template <typename T> TITAN_VECTOR_INLINE T computePowerOfTwo(typename Constants<T>::Bits n) {
  using C = Constants<T>;
  return std::bit_cast<T>(static_cast<typename C::Bits>((n + C::bias) << C::mantissaBits));
}

/// x rounded to an integer, in both representations.
template <typename T> struct Rounded {
  T value;
  typename Constants<T>::Bits integer;
};

template <typename T> TITAN_VECTOR_INLINE Rounded<T> roundToInteger(T x) {
  using C = Constants<T>;
  using Bits = typename C::Bits;
  T shifted = x + C::magic;
  return {shifted - C::magic, std::bit_cast<Bits>(shifted) - std::bit_cast<Bits>(C::magic)};
}

/// NaN passes through.
template <typename T> TITAN_VECTOR_INLINE T clamp(T x, T low, T high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

template <typename T> TITAN_VECTOR_INLINE T expImpl(T x) {
  using C = Constants<T>;
  x = clamp(x, C::lowest, C::highest);
  Rounded<T> n = roundToInteger(x * C::log2e);
  T r = (x - n.value * C::ln2High) - n.value * C::ln2Low;
  T y = T(1) + r * expm1Ratio(r);
  auto half = n.integer >> 1;
  return y * computePowerOfTwo<T>(half) * computePowerOfTwo<T>(n.integer - half);
}

template <typename T> TITAN_VECTOR_INLINE T exp2Impl(T x) {
  using C = Constants<T>;
  x = clamp(x, C::lowest2, C::highest2);
  Rounded<T> n = roundToInteger(x);
  T r = (x - n.value) * (C::ln2High + C::ln2Low);
  T y = T(1) + r * expm1Ratio(r);
  auto half = n.integer >> 1;
  return y * computePowerOfTwo<T>(half) * computePowerOfTwo<T>(n.integer - half);
}

template <typename T> TITAN_VECTOR_INLINE T expm1Impl(T x) {
  using C = Constants<T>;
  x = clamp(x, C::lowest, C::highest);
  Rounded<T> n = roundToInteger(x * C::log2e);
  T r = (x - n.value * C::ln2High) - n.value * C::ln2Low;
  T fraction = r * expm1Ratio(r); // e^r - 1
  auto half = n.integer >> 1;
  T a = computePowerOfTwo<T>(half), b = computePowerOfTwo<T>(n.integer - half);
  // 2^n (e^r - 1) + (2^n - 1): the second term is exact, the first preserves small values.
  return fraction * a * b + (a * b - T(1));
}

/// (log((1 + s) / (1 - s)) - 2s) / s^3 for z = s^2, |s| <= 3 - sqrt(8).
TITAN_VECTOR_INLINE float logRatio(float z) {
  float p = 0x1.dddae0p-3f;
  p = p * z + 0x1.245c0ap-2f;
  p = p * z + 0x1.9999ecp-2f;
  return p * z + 0x1.555556p-1f;
}

TITAN_VECTOR_INLINE double logRatio(double z) {
  double p = 0x1.2b6688a387e03p-3;
  p = p * z + 0x1.39fd392179a95p-3;
  p = p * z + 0x1.7462bd8f7796ep-3;
  p = p * z + 0x1.c71c62c639fdep-3;
  p = p * z + 0x1.2492492e09d4dp-2;
  p = p * z + 0x1.9999999995204p-2;
  return p * z + 0x1.5555555555558p-1;
}

template <typename T> TITAN_VECTOR_INLINE T logImpl(T x) {
  using C = Constants<T>;
  using Bits = typename C::Bits;
  using Unsigned = std::make_unsigned_t<Bits>;
  // Normalises subnormal numbers.
  const bool isTiny = x < std::numeric_limits<T>::min();
  const T normal = isTiny ? x * computePowerOfTwo<T>(C::mantissaBits) : x;
  // k + 2 bias, so that a logical shift suffices.
  const auto bits = std::bit_cast<Unsigned>(normal);
  const auto root = std::bit_cast<Unsigned>(T(0.70710678118654752440));
  const Unsigned shifted =
      (bits - root + (Unsigned(2 * C::bias) << C::mantissaBits)) >> C::mantissaBits;
  const Bits k = static_cast<Bits>(shifted) - 2 * C::bias;
  const T m = std::bit_cast<T>(bits - (static_cast<Unsigned>(k) << C::mantissaBits));
  const T n = (std::bit_cast<T>(std::bit_cast<Bits>(C::magic) + k) - C::magic) -
              (isTiny ? T(C::mantissaBits) : T(0));
  const T f = m - T(1), s = f / (T(2) + f), z = s * s, half = T(0.5) * f * f;
  const T y = n * C::ln2High - ((half - (s * (half + z * logRatio(z)) + n * C::ln2Low)) - f);
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const T ends = x == T(0) ? -infinity : x < infinity ? std::numeric_limits<T>::quiet_NaN() : x;
  return x > T(0) && x < infinity ? y : ends;
}

template <typename T> TITAN_VECTOR_INLINE T tanhImpl(T x) {
  T magnitude = x < T(0) ? -x : x;
  T e = expm1Impl(T(-2) * magnitude); // in (-1, 0]
  T y = -e / (e + T(2));
  return x < T(0) ? -y : y;
}

template <typename T> TITAN_VECTOR_INLINE T sigmoidImpl(T x) {
  return T(1) / (T(1) + expImpl(-x));
}

} // namespace vector_math

TITAN_VECTOR_INLINE float vexp(float x) {
  return vector_math::expImpl(x);
}
TITAN_VECTOR_INLINE double vexp(double x) {
  return vector_math::expImpl(x);
}
TITAN_VECTOR_INLINE float vexp2(float x) {
  return vector_math::exp2Impl(x);
}
TITAN_VECTOR_INLINE double vexp2(double x) {
  return vector_math::exp2Impl(x);
}
TITAN_VECTOR_INLINE float vexpm1(float x) {
  return vector_math::expm1Impl(x);
}
TITAN_VECTOR_INLINE double vexpm1(double x) {
  return vector_math::expm1Impl(x);
}
TITAN_VECTOR_INLINE float vlog(float x) {
  return vector_math::logImpl(x);
}
TITAN_VECTOR_INLINE double vlog(double x) {
  return vector_math::logImpl(x);
}
TITAN_VECTOR_INLINE float vtanh(float x) {
  return vector_math::tanhImpl(x);
}
TITAN_VECTOR_INLINE double vtanh(double x) {
  return vector_math::tanhImpl(x);
}
/// 1 / (1 + e^-x)
TITAN_VECTOR_INLINE float vsigmoid(float x) {
  return vector_math::sigmoidImpl(x);
}
TITAN_VECTOR_INLINE double vsigmoid(double x) {
  return vector_math::sigmoidImpl(x);
}
/// x / (1 + e^-x)
TITAN_VECTOR_INLINE float vsilu(float x) {
  return x * vector_math::sigmoidImpl(x);
}
TITAN_VECTOR_INLINE double vsilu(double x) {
  return x * vector_math::sigmoidImpl(x);
}

/// 2^x for x <= 0 (or -infinity); results below the normal range may become 0. Three operations
/// cheaper than vexp2, for softmax, whose arguments have the maximum subtracted.
template <typename T> TITAN_VECTOR_INLINE T vexp2NonPositive(T x) {
  using C = vector_math::Constants<T>;
  constexpr T least = -T(C::bias);
  x = x < least ? least : x;
  vector_math::Rounded<T> n = vector_math::roundToInteger(x);
  T r = (x - n.value) * (C::ln2High + C::ln2Low);
  return (T(1) + r * vector_math::expm1Ratio(r)) * vector_math::computePowerOfTwo<T>(n.integer);
}

} // namespace titan
