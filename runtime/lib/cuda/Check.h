// Turns the error codes of CUDA's libraries into faults that say what was tried.
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
