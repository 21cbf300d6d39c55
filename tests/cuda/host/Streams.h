// Streams of the CUDA runtime for tests without a device. Queued work runs only when the host waits
// for it. So code that does not wait, or waits for another stream, reads old data. Only
// communication also proceeds while other work waits for another process, because that process may
// be waiting for this communication.
#pragma once

#include "cuda_runtime_api.h"

#include <cstdint>
#include <deque>
#include <functional>

struct CUstream_st {
  struct Work {
    std::function<void()> run;
    std::function<bool()> isReady; // whether `run` can run without blocking; null: always
  };
  std::deque<Work> work;
  uint64_t queued = 0, finished = 0; // numbers in `work`: finished + 1 to queued
  bool wasAsked = false;             // by cudaStreamQuery, since the last work was queued
  bool progresses = false;           // also while the host waits for other streams: communication
  bool isBusy = false;               // its first work is running
};

namespace cuda_host {

/// `isReady` tells whether the work can run without blocking; work without it always can.
void queueWork(cudaStream_t, std::function<void()> work, std::function<bool()> isReady = nullptr);
/// Work queued from now on waits for the work `number` of the other stream, like for an event.
void queueWait(cudaStream_t, cudaStream_t other, uint64_t number);
/// Work is numbered when it is queued, and runs in that order.
uint64_t lastQueued(cudaStream_t);
uint64_t lastFinished(cudaStream_t);
void finishUntil(cudaStream_t, uint64_t number);
/// Runs work of communication streams that would not block. Called while other work waits for a
/// process.
void progressOthers();
void setLastError(cudaError_t);

} // namespace cuda_host
