// Page-locked memory that small uploads pass through: CUDA reads it by itself while the host goes
// on. A few blocks take turns; each is free again once what was last put into it has been sent.
#pragma once

#include "Check.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace titan::rt {

class PinnedRing {
public:
  static constexpr int64_t blockBytes = int64_t{1} << 20;
  struct Block {
    std::byte *memory = nullptr;
    cudaEvent_t sent = nullptr; // recorded behind the copy
  };

  PinnedRing() {
    void *memory = nullptr;
    check(cudaMallocHost(&memory, blockBytes * blocks.size()), "allocating page-locked memory");
    for (Block &block : blocks) {
      block.memory = static_cast<std::byte *>(memory) + blockBytes * (&block - blocks.data());
      check(cudaEventCreateWithFlags(&block.sent, cudaEventDisableTiming), "creating an event");
    }
  }
  ~PinnedRing() {
    for (Block &block : blocks)
      cudaEventDestroy(block.sent);
    cudaFreeHost(blocks[0].memory);
  }
  PinnedRing(const PinnedRing &) = delete;
  PinnedRing &operator=(const PinnedRing &) = delete;

  /// The block whose turn it is. It may still be on its way.
  Block &next() { return blocks[turn++ % blocks.size()]; }

private:
  std::array<Block, 8> blocks; // so many uploads may be under way
  size_t turn = 0;
};

} // namespace titan::rt
