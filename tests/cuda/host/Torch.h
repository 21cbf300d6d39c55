// Functions that the sources of the emulated LibTorch share.
#pragma once

#include "tensors.h"

#include <cstddef>

namespace cuda_host {

extern cudaStream_t currentStream; // set by the stream guard

/// Converts the error of a call that CUDA forbids during capture to an exception, as LibTorch does.
void refuseWhileCapturing(const char *call);
size_t getByteSize(at::ScalarType type);

} // namespace cuda_host
