// Streams: queued work runs only when the host waits for it. So code that does not wait, or waits
// for another stream, misses its data.
#pragma once

#include "cuda_runtime_api.h"

#include <cstdint>
#include <deque>
#include <functional>

struct CUstream_st {
  std::deque<std::function<void()>> work;
  uint64_t queued = 0, finished = 0; // numbers in `work`: finished + 1 to queued
  bool wasAsked = false;             // since work was queued: then it is complete
};

namespace cuda_host {

void queueWork(cudaStream_t, std::function<void()> work);
/// Work queued from now on waits for the current work of the other stream, like an event.
void queueWait(cudaStream_t, cudaStream_t other, uint64_t number);
/// Work is numbered when it is queued, and runs in that order.
uint64_t lastQueued(cudaStream_t);
uint64_t lastFinished(cudaStream_t);
void finishUntil(cudaStream_t, uint64_t number);
void setLastError(cudaError_t);

} // namespace cuda_host
