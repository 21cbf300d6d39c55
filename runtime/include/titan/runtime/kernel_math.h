// Elementary functions for emitted loops, in namespace titan::rt::tm (emitted files use an alias,
// because the C library has `struct tm`). For float and double, on CPUs (vectorisable, see
// base/math/VectorMath.h) and, compiled by nvcc, on devices. Nothing here fails.
#pragma once

#include "base/math/VectorErf.h"
#include "base/math/VectorMath.h"
#include "base/math/VectorPeriodic.h"
#include "base/random/Philox.h"

#include <cmath>
#include <cstdint>
#include <limits>

#ifdef __CUDACC__
#define TM_FUNCTION __host__ __device__ inline
#else
#define TM_FUNCTION inline __attribute__((always_inline))
#endif
#ifdef __CUDA_ARCH__
#define TM_ON_DEVICE 1
#else
#define TM_ON_DEVICE 0
#endif

namespace titan::rt::tm {

template <typename T> TM_FUNCTION T exp(T x) {
#if TM_ON_DEVICE
  return ::exp(x);
#else
  return titan::vexp(x);
#endif
}

template <typename T> TM_FUNCTION T tanh(T x) {
#if TM_ON_DEVICE
  return ::tanh(x);
#else
  return titan::vtanh(x);
#endif
}

template <typename T> TM_FUNCTION T sigmoid(T x) {
  return T(1) / (T(1) + tm::exp(-x));
}
template <typename T> TM_FUNCTION T erf(T x) {
#if TM_ON_DEVICE
  return ::erf(x);
#else
  return titan::verf(x);
#endif
}
template <typename T> TM_FUNCTION T sin(T x) {
#if TM_ON_DEVICE
  return ::sin(x);
#else
  return titan::vsin(x);
#endif
}
template <typename T> TM_FUNCTION T cos(T x) {
#if TM_ON_DEVICE
  return ::cos(x);
#else
  return titan::vcos(x);
#endif
}
template <typename T> TM_FUNCTION T floor(T x) {
  return std::floor(x);
}
template <typename T> TM_FUNCTION T log(T x) {
#if TM_ON_DEVICE
  return ::log(x);
#else
  return titan::vlog(x);
#endif
}
template <typename T> TM_FUNCTION T sqrt(T x) {
  return std::sqrt(x);
}
template <typename T> TM_FUNCTION T rsqrt(T x) {
  return T(1) / std::sqrt(x);
}
TM_FUNCTION double pow(double x, double y) {
  return std::pow(x, y);
}

/// Truncated quotient; 0 for a divisor of 0 (which padding may contain), because division by 0
/// traps.
TM_FUNCTION constexpr int64_t quotient(int64_t x, int64_t y) {
  return y == 0 ? 0 : y == -1 ? static_cast<int64_t>(0 - static_cast<uint64_t>(x)) : x / y;
}

/// NaN propagates, as in IEEE 754-2019 `maximum`.
template <typename T> TM_FUNCTION T max(T x, T y) {
  return x > y || x != x ? x : y;
}
template <typename T> TM_FUNCTION T min(T x, T y) {
  return x < y || x != x ? x : y;
}

/// The neutral elements of maximum and minimum.
template <typename T> TM_FUNCTION constexpr T lowest() {
  using Limits = std::numeric_limits<T>;
  return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
}
template <typename T> TM_FUNCTION constexpr T highest() {
  using Limits = std::numeric_limits<T>;
  return Limits::has_infinity ? Limits::infinity() : Limits::max();
}

/// Elements of a rank's shard of `count` elements in flat storage: all shards are equal, the last
/// ones padded.
TM_FUNCTION constexpr int64_t chunk(int64_t count, int64_t ranks) {
  return (count + ranks - 1) / ranks;
}

/// The angle in radians per position of pair i of n in a rotary embedding: theta^(-i/n) (Su et al.,
/// arXiv 2104.09864, 3.4.2), or element i of a list.
TM_FUNCTION double frequency(double theta, int64_t i, int64_t n) {
  return std::pow(theta, -static_cast<double>(i) / static_cast<double>(n));
}
TM_FUNCTION double frequency(const double *frequencies, int64_t i, int64_t) {
  return frequencies[i];
}

/// Cosine and sine of a pair's angle, in double, because the error grows with the position.
template <typename T, typename Frequencies>
TM_FUNCTION void rotationAt(int64_t position, Frequencies frequencies, int64_t i, int64_t n,
                            T &cosine, T &sine) {
  const double angle = static_cast<double>(position) * frequency(frequencies, i, n);
  cosine = static_cast<T>(std::cos(angle));
  sine = static_cast<T>(std::sin(angle));
}

#ifndef __CUDACC__

namespace detail {

/// frequency(theta, i, n) in vectorisable loops over pairs, with `exponent` -log(theta).
struct Powers {
  TM_FUNCTION double operator()(int i) const { return vexp(i * (exponent / n)); }
  double exponent, n;
};
/// frequency(listed, i, n).
struct Listed {
  TM_FUNCTION double operator()(int i) const { return listed[i]; }
  const double *listed;
};
TM_FUNCTION Powers frequencies(double theta, int64_t n) {
  return {-std::log(theta), static_cast<double>(n)};
}
TM_FUNCTION Listed frequencies(const double *listed, int64_t) {
  return {listed};
}

} // namespace detail

/// rotationAt for all i < n, on CPUs, where libm's pow, cos and sin would dominate the rotation.
template <typename T, typename Frequencies>
TM_FUNCTION void rotation(int64_t position, Frequencies given, int64_t n, T *cosines, T *sines) {
  const auto frequencies = detail::frequencies(given, n);
  const double at = static_cast<double>(position);
  const int pairs = static_cast<int>(n); // int, which vectors without AVX-512 can convert too
#pragma omp simd
  for (int i = 0; i < pairs; ++i) {
    const double angle = at * frequencies(i);
    cosines[i] = static_cast<T>(vcos(angle));
    sines[i] = static_cast<T>(vsin(angle));
  }
}

#endif // __CUDACC__

/// Element `index` of a random tensor (base/random/Philox.h).
template <typename T, typename... Keys>
TM_FUNCTION T uniform(uint64_t stream, int64_t index, Keys... keys) {
  return element::uniform<T>(stream, index, element::foldAll(keys...));
}
template <typename T, typename... Keys>
TM_FUNCTION T normal(uint64_t stream, int64_t index, Keys... keys) {
  return element::normal<T>(stream, index, element::foldAll(keys...));
}

/// The k largest of n elements `fromStride` apart, in descending order, and their indices; ties go
/// to the lower index. Results are `toStride` apart.
template <typename T>
TM_FUNCTION void topK(const T *from, int64_t fromStride, int64_t n, T *values, int64_t *indices,
                      int64_t toStride, int64_t k) {
  int64_t last = -1;
  for (int64_t c = 0; c < k; ++c) {
    int64_t best = -1;
    for (int64_t i = 0; i < n; ++i) {
      const T x = from[i * fromStride];
      const bool isLeft =
          last < 0 || x < from[last * fromStride] || (x == from[last * fromStride] && i > last);
      if (isLeft && (best < 0 || x > from[best * fromStride]))
        best = i;
    }
    last = best < 0 ? last : best; // only NaNs remain
    values[c * toStride] = from[(last < 0 ? 0 : last) * fromStride];
    indices[c * toStride] = last < 0 ? 0 : last;
  }
}

} // namespace titan::rt::tm
