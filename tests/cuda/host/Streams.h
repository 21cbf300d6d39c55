// Streams: what is queued on one runs when the host waits for it, no sooner. So whoever does not
// wait, or waits for another stream, does not find what he needs.
#pragma once

#include "cuda_runtime_api.h"

#include <cstdint>
#include <deque>
#include <functional>

struct CUstream_st {
  std::deque<std::function<void()>> work;
  uint64_t queued = 0, finished = 0; // numbers of what is in `work`: finished + 1 to queued
  bool wasAsked = false;             // since work was queued: then it is done
};

namespace cuda_host {

void queueWork(cudaStream_t, std::function<void()> work);
/// What is queued from here on runs when the other stream has come so far, as by an event.
void queueWait(cudaStream_t, cudaStream_t other, uint64_t number);
/// Work is numbered as it is queued; it runs in that order.
uint64_t lastQueued(cudaStream_t);
uint64_t lastFinished(cudaStream_t);
void finishUntil(cudaStream_t, uint64_t number);
void setLastError(cudaError_t);

} // namespace cuda_host
