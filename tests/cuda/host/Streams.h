// Streams: what is queued on one runs when the host waits for it, no sooner. So whoever does not
// wait, or waits for another stream, does not find what he needs.
#pragma once

#include "cuda_runtime_api.h"

#include <cstdint>
#include <functional>

namespace cuda_host {

void queueWork(cudaStream_t, std::function<void()> work);
/// Work is numbered as it is queued; it runs in that order.
uint64_t lastQueued(cudaStream_t);
uint64_t lastFinished(cudaStream_t);
void finishUntil(cudaStream_t, uint64_t number);
void setLastError(cudaError_t);

} // namespace cuda_host
