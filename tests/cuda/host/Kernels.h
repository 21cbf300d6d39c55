// The running device code, for checkers (Accesses.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace cuda_host {

/// Intervals between barriers are numbered consecutively. Two accesses may overlap if one thread
/// made both, or if a barrier of their block separates them. Accesses of different blocks never
/// may.
struct Running {
  bool active = false;
  uint32_t interval = 0;    // the current interval
  uint32_t blockBegan = 0;  // the first interval of this block
  uint32_t launchBegan = 0; // the first interval of this launch
  uint16_t thread = 0;      // in the block
  std::byte *stacks = nullptr;
  size_t stackBytes = 0; // of all threads
};
extern Running running;

} // namespace cuda_host
