// What the loops of emitted programs call, in namespace titan::rt::tm (`struct tm` of the C library
// has the short name; emitted files have an alias): elementary functions for float and
// double, for processors (vectorisable, see vector_math.h) and, compiled by nvcc, for devices; and
// a few loops that every program needs. Sums run in an order that depends on the shape alone, never
// on the number of threads, so that replicas of a value stay equal bit by bit.
//
// Counts are in elements. Nothing here allocates or fails.
#pragma once

#include "titan/runtime/vector_math.h"

#include <cmath>
#include <cstdint>
#include <cstring>
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
  return titan::rt::vexp(x);
#endif
}

template <typename T> TM_FUNCTION T tanh(T x) {
#if TM_ON_DEVICE
  return ::tanh(x);
#else
  return titan::rt::vtanh(x);
#endif
}

template <typename T> TM_FUNCTION T sigmoid(T x) {
  return T(1) / (T(1) + tm::exp(-x));
}
template <typename T> TM_FUNCTION T log(T x) {
  return std::log(x);
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

/// A NaN wins, as in IEEE 754-2019 `maximum`.
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

/// A rank's part of `count` elements in flat storage: all parts are equal, the last ones padded.
TM_FUNCTION constexpr int64_t chunk(int64_t count, int64_t ranks) {
  return (count + ranks - 1) / ranks;
}

/// Cosines and sines of position * theta^(-i/n), i < n (Su et al., arXiv 2104.09864, 3.4.2), in
/// double precision, since an angle's error grows with the position.
template <typename T>
TM_FUNCTION void rotation(int64_t position, double theta, int64_t n, T *cosines, T *sines) {
  for (int64_t i = 0; i < n; ++i) {
    double angle = static_cast<double>(position) *
                   std::pow(theta, -static_cast<double>(i) / static_cast<double>(n));
    cosines[i] = static_cast<T>(std::cos(angle));
    sines[i] = static_cast<T>(std::sin(angle));
  }
}

//===--- Loops over memory (processors) ----------------------------------===//

constexpr int64_t kLittleWork = 16384;

template <typename T> void fill(T *to, int64_t count, T value) {
#pragma omp parallel for simd if (count >= kLittleWork)
  for (int64_t i = 0; i < count; ++i)
    to[i] = value;
}

/// The ranges may touch but not overlap.
template <typename T> void copy(T *to, const T *from, int64_t count) {
#pragma omp parallel for simd if (count >= kLittleWork)
  for (int64_t i = 0; i < count; ++i)
    to[i] = from[i];
}

/// Part `part` of `count` elements in parts of `size`, the missing ones 0.
template <typename T>
void takePart(T *to, const T *from, int64_t count, int64_t size, int64_t part) {
  const int64_t start = part * size;
  const int64_t there = start >= count ? 0 : count - start < size ? count - start : size;
  copy(to, from + start, there);
  fill(to + there, size - there, T(0));
}

namespace detail {

/// Combines term(0) ... term(count - 1) in up to 256 chunks, then the chunks in order.
template <typename T, typename Chunk, typename Combine>
T reduceChunks(int64_t count, T neutral, Chunk &&reduceChunk, Combine &&combine) {
  constexpr int64_t kChunks = 256, kLeast = 1024;
  const int64_t size = chunk(count, kChunks) < kLeast ? kLeast : chunk(count, kChunks);
  const int64_t chunks = chunk(count, size);
  T parts[kChunks];
#pragma omp parallel for if (count >= kLittleWork)
  for (int64_t c = 0; c < chunks; ++c)
    parts[c] = reduceChunk(c * size, (c + 1) * size < count ? (c + 1) * size : count);
  T total = neutral;
  for (int64_t c = 0; c < chunks; ++c)
    total = combine(total, parts[c]);
  return total;
}

} // namespace detail

template <typename T, typename Term> T sum(int64_t count, Term &&term) {
  auto ofChunk = [&](int64_t from, int64_t to) {
    T total = 0;
#pragma omp simd reduction(+ : total)
    for (int64_t i = from; i < to; ++i)
      total += term(i);
    return total;
  };
  return detail::reduceChunks<T>(count, T(0), ofChunk, [](T a, T b) { return a + b; });
}

template <typename T, typename Term> T maximum(int64_t count, Term &&term) {
  auto ofChunk = [&](int64_t from, int64_t to) {
    T most = lowest<T>();
    for (int64_t i = from; i < to; ++i)
      most = tm::max(most, T(term(i)));
    return most;
  };
  return detail::reduceChunks<T>(count, lowest<T>(), ofChunk,
                                 [](T a, T b) { return tm::max(a, b); });
}

template <typename T, typename Term> T minimum(int64_t count, Term &&term) {
  auto ofChunk = [&](int64_t from, int64_t to) {
    T least = highest<T>();
    for (int64_t i = from; i < to; ++i)
      least = tm::min(least, T(term(i)));
    return least;
  };
  return detail::reduceChunks<T>(count, highest<T>(), ofChunk,
                                 [](T a, T b) { return tm::min(a, b); });
}

} // namespace titan::rt::tm
