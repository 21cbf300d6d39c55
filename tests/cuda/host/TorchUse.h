// What a program used of the emulated LibTorch.
#pragma once

#include <cstdint>

namespace cuda_host {

struct TorchUse {
  int forward = 0, backward = 0;    // calls of flash attention
  int64_t bytes = 0, mostBytes = 0; // of tensors, as LibTorch's allocator rounds them
};
extern TorchUse torchUse;

} // namespace cuda_host
