// CUDA C++'s extensions of C++, for an ordinary C++ compiler. ../launches.py rewrites a launch,
// `f<<<c>>>(a)`, as a call of launch() below.
#pragma once

#include "cuda_runtime_api.h"

#include <cmath>
#include <cstring>
#include <math.h>
#include <source_location>
#include <type_traits>
#include <typeinfo>

#define __global__
#define __device__
#define __host__
#define __shared__ static // blocks run one after the other

namespace cuda_host {

/// The position of the current thread.
struct BuiltIn {
  dim3 thread, block, blockSize, gridSize;
};
extern BuiltIn builtIn;

struct Config {
  Config(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr)
      : grid(grid), block(block), shared(shared), stream(stream) {}
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
};

/// A kernel call with its arguments, which are copied for every thread.
struct Kernel {
  const void *function;
  const void *arguments;
  size_t bytes;
  void (*call)(const void *arguments);
  const std::type_info *name;
};
void queue(const Config &, const Kernel &);

template <typename Call> void launch(const Config &config, const void *function, Call call) {
  static_assert(std::is_trivially_copyable_v<Call>, "a kernel's arguments are copied as bytes");
  queue(config,
        {function, &call, sizeof call,
         [](const void *copied) { (*static_cast<const Call *>(copied))(); }, &typeid(Call)});
}

void loadKernel(const void *function);
/// Waits for all threads of the warp; returns the value of the thread on `lane`.
void exchange(unsigned mask, void *value, size_t bytes, unsigned lane);
unsigned getThreadLane();

} // namespace cuda_host

template <typename Function>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *, Function *function) {
  ::cuda_host::loadKernel(reinterpret_cast<const void *>(function));
  return cudaSuccess;
}

#define threadIdx (::cuda_host::builtIn.thread)
#define blockIdx (::cuda_host::builtIn.block)
#define blockDim (::cuda_host::builtIn.blockSize)
#define gridDim (::cuda_host::builtIn.gridSize)

/// One thread runs at a time, so a plain operation is atomic.
[[gnu::no_sanitize("thread")]] inline int atomicCAS_system(int *at, int expected, int desired) {
  const int old = *at;
  if (old == expected)
    *at = desired;
  return old;
}
void __syncthreads(std::source_location = std::source_location::current());

template <typename T> T __shfl_sync(unsigned mask, T value, int lane) {
  ::cuda_host::exchange(mask, &value, sizeof value, static_cast<unsigned>(lane) % 32);
  return value;
}
template <typename T> T __shfl_xor_sync(unsigned mask, T value, int bits) {
  ::cuda_host::exchange(mask, &value, sizeof value,
                        ::cuda_host::getThreadLane() ^ static_cast<unsigned>(bits));
  return value;
}
