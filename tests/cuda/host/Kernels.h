// What runs on the device right now, for those who watch over it (Accesses.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace cuda_host {

/// Stretches between barriers are numbered through: two accesses may meet where one thread made
/// both, or where a barrier of their block stood between them. Blocks never meet.
struct Running {
  bool active = false;
  uint32_t interval = 0;    // the present one
  uint32_t blockBegan = 0;  // the first one of this block
  uint32_t launchBegan = 0; // and of this launch
  uint16_t thread = 0;      // in the block
  std::byte *stacks = nullptr;
  size_t stackBytes = 0; // of all threads
};
extern Running running;

} // namespace cuda_host
