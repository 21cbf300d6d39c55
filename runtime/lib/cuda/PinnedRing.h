// Page-locked memory for small uploads: CUDA reads it while the host continues. A few blocks are
// used in turn; a block is free when its last upload is complete.
#pragma once

#include "Check.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace titan::rt {

class PinnedRing {
public:
  /// The largest upload.
  static constexpr int64_t blockBytes = int64_t{1} << 20;
  struct Block {
    std::byte *memory = nullptr;
    cudaEvent_t sent = nullptr; // recorded after the copy
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

  /// The next block in turn. Its upload may still be in progress.
  Block &next() { return blocks[turn++ % blocks.size()]; }

private:
  std::array<Block, 8> blocks; // the number of concurrent uploads
  size_t turn = 0;
};

} // namespace titan::rt
