// Converts CUDA error codes to faults that name the failed action.
#pragma once

#include "base/Error.h"

#include <string>

#include <cuda_runtime_api.h>

namespace titan::rt {

inline void check(cudaError_t status, const char *action) {
  if (status != cudaSuccess)
    throw Fault(std::string("CUDA: ") + action + ": " + cudaGetErrorString(status));
}

} // namespace titan::rt
