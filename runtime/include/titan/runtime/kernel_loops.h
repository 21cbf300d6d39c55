// Loops that emitted programs share: copies, fills, and sums of complete tensors. kernel_cuda.h
// defines the same names for devices. The order of sums depends only on the shape, not on the
// number of threads, so replicas stay bitwise equal.
//
// Counts are in elements. Nothing here allocates; device errors appear when the runtime waits for
// the device.
#pragma once

#include "titan/runtime/blocked_sum.h"
#include "titan/runtime/kernel_math.h"
#include "titan/runtime/program.h"

#ifdef __CUDACC__
#include "titan/runtime/kernel_cuda.h"
#define TM_LAMBDA __device__
#else
#include <omp.h>
#define TM_LAMBDA
#endif

namespace titan::rt::tm {

#ifndef __CUDACC__

/// Elements from which a loop runs on all threads: fewer cost less than the start of a team.
constexpr int64_t kMinParallelWork = 16384;

namespace detail {

/// Calls body(0) ... body(times - 1), on all threads if there is enough `work`. An `if` clause on
/// the directive would create a team of one thread: libgomp then discards its cached team, and this
/// loop and the next would allocate in every step.
template <typename Body> void parallelFor(int64_t times, int64_t work, Body &&body) {
  if (work < kMinParallelWork) {
    for (int64_t i = 0; i < times; ++i)
      body(i);
    return;
  }
#pragma omp parallel for
  for (int64_t i = 0; i < times; ++i)
    body(i);
}

} // namespace detail

/// Threads for which scratch is planned.
inline int64_t threads() {
  return omp_get_max_threads();
}

// Programs call these for many tensors. Inlined copies would cost more compile time than the calls
// cost in a step.
template <typename T> [[gnu::noinline]] void fill(Context &, T *to, int64_t count, T value) {
  detail::parallelFor(count, count, [=](int64_t i) { to[i] = value; });
}

/// The ranges may touch but not overlap.
template <typename T> [[gnu::noinline]] void copy(Context &, T *to, const T *from, int64_t count) {
  detail::parallelFor(count, count, [=](int64_t i) { to[i] = from[i]; });
}

// GCC copies structures one at a time, but vectorises loops over integers.
inline void fill(Context &ctx, bf16 *to, int64_t count, bf16 value) {
  fill(ctx, &to->bits, count, value.bits);
}
inline void copy(Context &ctx, bf16 *to, const bf16 *from, int64_t count) {
  copy(ctx, &to->bits, &from->bits, count);
}

namespace detail {

/// Combines term(from) ... term(to - 1): every 64th term per lane, then the lanes. That fills
/// vectors and breaks the dependence chain. (For terms from lambdas, GCC keeps the sum of `omp simd
/// reduction` in memory, which is ten times slower.)
template <typename T, typename Term, typename Combine>
T combineLanes(int64_t from, int64_t to, T neutral, Term &&term, Combine &&combine) {
  constexpr int64_t kLanes = 64;
  T lanes[kLanes];
  for (int64_t l = 0; l < kLanes; ++l)
    lanes[l] = neutral;
  int64_t i = from;
  for (; i + kLanes <= to; i += kLanes)
#pragma omp simd
    for (int64_t l = 0; l < kLanes; ++l)
      lanes[l] = combine(lanes[l], static_cast<T>(term(i + l)));
  for (int64_t l = 0; i + l < to; ++l)
    lanes[l] = combine(lanes[l], static_cast<T>(term(i + l)));
  for (int64_t width = kLanes / 2; width > 0; width /= 2)
    for (int64_t l = 0; l < width; ++l)
      lanes[l] = combine(lanes[l], lanes[l + width]);
  return lanes[0];
}

/// Combines the results of up to 256 chunks, in order. reduceChunk(from, to) reduces the terms of
/// one chunk.
template <typename T, typename ReduceChunk, typename Combine>
T reduceChunks(int64_t count, T neutral, ReduceChunk &&reduceChunk, Combine &&combine) {
  constexpr int64_t kChunks = 256, kMinChunk = 1024;
  const int64_t size = chunk(count, kChunks) < kMinChunk ? kMinChunk : chunk(count, kChunks);
  const int64_t chunks = chunk(count, size);
  T partials[kChunks];
  parallelFor(chunks, count, [&](int64_t c) {
    const int64_t end = (c + 1) * size < count ? (c + 1) * size : count;
    partials[c] = reduceChunk(c * size, end);
  });
  T total = neutral;
  for (int64_t c = 0; c < chunks; ++c)
    total = combine(total, partials[c]);
  return total;
}

/// The reduction of term(0) ... term(count - 1).
template <typename T, typename Term, typename Combine>
T reduceAll(int64_t count, T neutral, Term &&term, Combine &&combine) {
  auto reduceChunk = [&](int64_t from, int64_t to) {
    return combineLanes(from, to, neutral, term, combine);
  };
  return reduceChunks<T>(count, neutral, reduceChunk, combine);
}

/// The sum of term(0) ... term(count - 1). Blocks of 8 terms in each of 64 lanes are summed in T,
/// and the blocks in Total<T> (blocked_sum.h).
template <typename T, typename Term> Total<T> sumAll(int64_t count, Term &&term) {
  constexpr int64_t block = 8 * 64;
  auto plus = [](auto a, auto b) { return a + b; };
  auto sumChunk = [&](int64_t from, int64_t to) {
    Total<T> total = 0;
    for (int64_t i = from; i < to; i += block)
      total += combineLanes(i, i + block < to ? i + block : to, T(0), term, plus);
    return total;
  };
  return reduceChunks<Total<T>>(count, Total<T>(0), sumChunk, plus);
}

} // namespace detail

/// Writes the sum of term(0) ... term(count - 1) to `to`. maximum() and minimum() write the
/// greatest and the least of these terms; NaN propagates.
template <typename To, typename Term> void sum(Context &, To *to, int64_t count, Term &&term) {
  using T = Accumulated<To>;
  *to = static_cast<T>(detail::sumAll<T>(count, term));
}

template <typename To, typename Term> void maximum(Context &, To *to, int64_t count, Term &&term) {
  using T = Accumulated<To>;
  *to = detail::reduceAll<T>(count, lowest<T>(), term, [](T a, T b) { return tm::max(a, b); });
}

template <typename To, typename Term> void minimum(Context &, To *to, int64_t count, Term &&term) {
  using T = Accumulated<To>;
  *to = detail::reduceAll<T>(count, highest<T>(), term, [](T a, T b) { return tm::min(a, b); });
}

/// Groups indices below `count` by row, in ascending order: the indices of row r are order[ends[r -
/// 1]] ... order[ends[r] - 1], starting at order[0] for row 0. Row -1 is omitted. `ends` holds
/// `rows` numbers, `order` holds `count`.
template <typename GetRow>
void groupByRow(Context &, int64_t *ends, int64_t rows, int64_t *order, int64_t count,
                GetRow &&getRow) {
  for (int64_t r = 0; r < rows; ++r)
    ends[r] = 0;
  for (int64_t i = 0; i < count; ++i)
    if (const int64_t r = getRow(i); r >= 0)
      ++ends[r];
  int64_t begin = 0;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t size = ends[r];
    ends[r] = begin;
    begin += size;
  }
  for (int64_t i = 0; i < count; ++i)
    if (const int64_t r = getRow(i); r >= 0)
      order[ends[r]++] = i;
}

/// Calls body(0) ... body(rows - 1), in parallel if rows of `width` elements are enough work.
template <typename Body> void forEachRow(int64_t rows, int64_t width, Body &&body) {
  detail::parallelFor(rows, rows * width, body);
}

/// Fails if an index is not below `size`. As unsigned numbers, negative indices are the largest.
[[gnu::noinline]] inline void checkIndices(Context &ctx, const int64_t *at, int64_t count,
                                           int64_t size, const char *dim) {
  auto index = [=](int64_t i) { return static_cast<uint64_t>(at[i]); };
  const uint64_t most = detail::reduceAll<uint64_t>(
      count, 0, index, [](uint64_t a, uint64_t b) { return a > b ? a : b; });
  if (count > 0 && most >= static_cast<uint64_t>(size))
    failAtIndex({1, ctx.location, dim, static_cast<int64_t>(most), size});
}

#endif // __CUDACC__

/// The sum of x[0] ... x[count - 1].
template <typename To, typename X>
[[gnu::noinline]] void sum(Context &ctx, To *to, const X *x, int64_t count) {
  sum(ctx, to, count, [=] TM_LAMBDA(int64_t i) { return Accumulated<X>(x[i]); });
}

/// The sum of x[0] * y[0] ... x[count - 1] * y[count - 1].
template <typename To, typename X, typename Y>
[[gnu::noinline]] void dot(Context &ctx, To *to, const X *x, const Y *y, int64_t count) {
  sum(ctx, to, count,
      [=] TM_LAMBDA(int64_t i) { return Accumulated<X>(x[i]) * Accumulated<Y>(y[i]); });
}

/// Copies shard `shard` of `count` elements, with shards of `size`, padded with 0.
template <typename T>
void copyShard(Context &ctx, T *to, const T *from, int64_t count, int64_t size, int64_t shard) {
  const int64_t start = shard * size;
  const int64_t copied = start >= count ? 0 : count - start < size ? count - start : size;
  copy(ctx, to, from + start, copied);
  fill(ctx, to + copied, size - copied, T(0));
}

/// Copies the elements of `from` whose indices are the global indices of `shard`: one or two
/// intervals (base/layout/DimShard.h).
template <typename T> void copyShard(Context &ctx, T *to, const T *from, const DimShard &shard) {
  for (int k = 0; k < shard.intervalCount(); ++k)
    copy(ctx, to + (k == 0 ? 0 : shard.split), from + shard.interval(k).start,
         shard.interval(k).length);
}

} // namespace titan::rt::tm
