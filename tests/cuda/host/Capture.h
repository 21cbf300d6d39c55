// Stream capture: work on the captured stream, and on streams that wait for it, becomes a graph and
// does not run. Calls that CUDA forbids during capture fail and are named on stderr.
#pragma once

#include "cuda_runtime_api.h"

#include <cstdint>
#include <functional>

namespace cuda_host {

bool isCapturing(); // any stream
bool isCaptured(cudaStream_t);
/// The number of the last captured work of a captured stream.
uint64_t lastCaptured(cudaStream_t);
/// Adds work of a captured stream to the graph.
void captureWork(cudaStream_t, std::function<void()> work);
/// The stream waits for the work `number` of the captured stream `other`.
void captureWait(cudaStream_t, cudaStream_t other, uint64_t number);

/// cudaSuccess; during a capture, the error of a forbidden call, which invalidates the capture.
cudaError_t forbidWhileCapturing(const char *call);

} // namespace cuda_host
