// Stream capture: what is queued on the captured stream, and on streams that wait for it, becomes a
// graph and does not run. Calls that CUDA forbids meanwhile fail, and say on stderr which they are.
#pragma once

#include "cuda_runtime_api.h"

#include <cstdint>
#include <functional>

namespace cuda_host {

bool isCapturing(); // any stream
bool isCaptured(cudaStream_t);
uint64_t lastCaptured(cudaStream_t);
void captureWork(cudaStream_t, std::function<void()> work);
void captureWait(cudaStream_t, cudaStream_t other, uint64_t number);

/// cudaSuccess, or while a stream is captured the error that such a call gives then; the capture is
/// lost.
cudaError_t forbidWhileCapturing(const char *call);

} // namespace cuda_host
