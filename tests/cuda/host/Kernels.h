// The state of the emulated kernel that runs, for the checks of its memory accesses (Accesses.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace cuda_host {

/// An interval is the time of a block between two barriers. Intervals of all blocks and launches
/// are numbered consecutively. Two accesses to one byte are ordered if one thread made both, or if
/// a barrier of their block separates them. Accesses of different blocks of a launch are unordered.
struct KernelState {
  bool active = false;         // a thread of a kernel runs, no code of the host
  uint32_t interval = 0;       // the current interval
  uint32_t blockBegan = 0;     // the first interval of this block
  uint32_t launchBegan = 0;    // the first interval of this launch
  uint16_t thread = 0;         // in the block
  std::byte *stacks = nullptr; // of all threads
  size_t stackBytes = 0;       // of all threads
};
extern KernelState running;

} // namespace cuda_host
