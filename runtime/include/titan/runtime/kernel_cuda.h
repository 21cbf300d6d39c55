// The loops of kernel_loops.h on a CUDA device, and the launchers of emitted kernels. A kernel is a
// lambda for one element, or for one row by all threads of a block. The templates below are the
// only __global__ functions. All work is queued on the context's stream.
#pragma once

#include "titan/runtime/blocked_sum.h"
#include "titan/runtime/kernel_math.h"
#include "titan/runtime/program.h"

#include <cuda_runtime.h>

namespace titan::rt::tm {

/// Threads of a block.
constexpr int kThreads = 256;

/// Threads for which scratch is planned: device kernels need none.
constexpr int64_t threads() {
  return 0;
}

inline cudaStream_t getStream(const Context &ctx) {
  return static_cast<cudaStream_t>(ctx.stream);
}

template <typename Kernel> __global__ void forElements(int64_t count, Kernel kernel) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride)
    kernel(i);
}

template <typename Kernel> __global__ void forRows(int64_t count, Kernel kernel) {
  for (int64_t row = blockIdx.x; row < count; row += gridDim.x) {
    kernel(row);
    __syncthreads(); // the next row reuses the shared memory
  }
}

/// Loads a kernel onto the device before its first launch. Errors appear when the host next waits
/// for the device, as those of launches do.
template <typename Function> void load(Function *kernel) {
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, kernel);
}

/// Calls kernel(i) for 0 <= i < count, one thread each. Above 65536 blocks, threads loop: more
/// blocks would not occupy the device better.
template <typename Kernel> void launch(Context &ctx, int64_t count, Kernel kernel) {
  const int64_t blocks = chunk(count, kThreads);
  const auto function = forElements<Kernel>;
  if (ctx.preparing)
    load(function);
  else if (count > 0)
    function<<<static_cast<unsigned>(blocks < 65536 ? blocks : 65536), kThreads, 0,
               getStream(ctx)>>>(count, kernel);
}

/// Calls kernel(row) for 0 <= row < count, with all threads of a block.
template <typename Kernel> void launchRows(Context &ctx, int64_t count, Kernel kernel) {
  const auto function = forRows<Kernel>;
  if (ctx.preparing)
    load(function);
  else if (count > 0)
    function<<<static_cast<unsigned>(count < 65536 ? count : 65536), kThreads, 0, getStream(ctx)>>>(
        count, kernel);
}

/// Combinations of two values for reduceBlock.
struct Plus {
  template <typename T> __device__ static T combine(T a, T b) { return a + b; }
};
struct Max {
  template <typename T> __device__ static T combine(T a, T b) { return tm::max(a, b); }
};
struct Min {
  template <typename T> __device__ static T combine(T a, T b) { return tm::min(a, b); }
};

/// Tree reduction of the block's values, in the same order in every run. All threads receive the
/// result.
template <typename Combine, typename T> __device__ T reduceBlock(T value) {
  __shared__ T values[kThreads];
  __syncthreads();
  values[threadIdx.x] = value;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (static_cast<int>(threadIdx.x) < half)
      values[threadIdx.x] = Combine::combine(values[threadIdx.x], values[threadIdx.x + half]);
    __syncthreads();
  }
  return values[0];
}

/// Writes the reduction of term(0) ... term(count - 1) to `to`, in one block: each thread combines
/// every kThreads-th term, then the block reduces the threads' results.
template <typename Combine, typename To, typename T, typename Term>
void reduceAll(Context &ctx, To *to, int64_t count, T neutral, Term term) {
  launchRows(ctx, 1, [=] __device__(int64_t) {
    T total = neutral;
    for (int64_t i = threadIdx.x; i < count; i += kThreads)
      total = Combine::combine(total, T(term(i)));
    total = reduceBlock<Combine>(total);
    if (threadIdx.x == 0)
      *to = total;
  });
}

/// The following functions have the contracts of those on CPUs (kernel_loops.h).
template <typename To, typename Term> void sum(Context &ctx, To *to, int64_t count, Term term) {
  using T = Accumulated<To>;
  launchRows(ctx, 1, [=] __device__(int64_t) {
    Sum<T> sum;
    for (int64_t i = threadIdx.x; i < count; i += kThreads)
      sum.add(T(term(i)));
    const Total<T> total = reduceBlock<Plus>(sum.get());
    if (threadIdx.x == 0)
      *to = static_cast<T>(total);
  });
}
template <typename T, typename Term> void maximum(Context &ctx, T *to, int64_t count, Term term) {
  reduceAll<Max>(ctx, to, count, lowest<Accumulated<T>>(), term);
}
template <typename T, typename Term> void minimum(Context &ctx, T *to, int64_t count, Term term) {
  reduceAll<Min>(ctx, to, count, highest<Accumulated<T>>(), term);
}

/// As on CPUs (kernel_loops.h), in one block: each thread scans all indices for those of its rows.
template <typename GetRow>
void groupByRow(Context &ctx, int64_t *ends, int64_t rows, int64_t *order, int64_t count,
                GetRow getRow) {
  launchRows(ctx, 1, [=] __device__(int64_t) {
    __shared__ int64_t sizes[kThreads];
    const int64_t perThread = chunk(rows, kThreads), from = threadIdx.x * perThread;
    const int64_t first = from < rows ? from : rows;
    const int64_t last = first + perThread < rows ? first + perThread : rows;
    for (int64_t r = first; r < last; ++r)
      ends[r] = 0;
    int64_t size = 0;
    for (int64_t i = 0; i < count; ++i)
      if (const int64_t r = getRow(i); r >= first && r < last) {
        ++ends[r];
        ++size;
      }
    sizes[threadIdx.x] = size;
    __syncthreads();
    int64_t begin = 0;
    for (unsigned t = 0; t < threadIdx.x; ++t)
      begin += sizes[t];
    for (int64_t r = first; r < last; ++r) {
      const int64_t groupSize = ends[r];
      ends[r] = begin;
      begin += groupSize;
    }
    for (int64_t i = 0; i < count; ++i)
      if (const int64_t r = getRow(i); r >= first && r < last)
        order[ends[r]++] = i;
  });
}

template <typename T> void fill(Context &ctx, T *to, int64_t count, T value) {
  launch(ctx, count, [=] __device__(int64_t i) { to[i] = value; });
}
template <typename T> void copy(Context &ctx, T *to, const T *from, int64_t count) {
  launch(ctx, count, [=] __device__(int64_t i) { to[i] = from[i]; });
}

/// Records the first index out of range; the host checks it when it waits for the device.
inline void checkIndices(Context &ctx, const int64_t *at, int64_t count, int64_t size,
                         const char *dim) {
  BadIndex *bad = ctx.badIndex;
  const char *location = ctx.location;
  launch(ctx, count, [=] __device__(int64_t i) {
    if (static_cast<uint64_t>(at[i]) < static_cast<uint64_t>(size) ||
        atomicCAS_system(&bad->found, 0, 1) != 0)
      return;
    bad->location = location;
    bad->dim = dim;
    bad->index = at[i];
    bad->size = size;
  });
}

} // namespace titan::rt::tm
