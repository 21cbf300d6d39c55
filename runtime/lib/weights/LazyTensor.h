// A tensor in memory whose elements are computed when they are read.
#pragma once

#include "base/files/Safetensors.h"

#include <atomic>
#include <functional>

namespace titan::rt {

class LazyTensor {
public:
  /// Computes elements [first, first + count) in f32.
  using Compute = std::function<void(int64_t first, int64_t count, float *out)>;

  /// `dtype` is F32, BF16 or F16. `method` names the form of the file in messages.
  LazyTensor(std::string method, const std::string &dtype, std::vector<int64_t> shape,
             Compute compute);
  ~LazyTensor();
  LazyTensor(const LazyTensor &) = delete;
  LazyTensor &operator=(const LazyTensor &) = delete;

  const StoredTensor &tensor() const { return stored; }
  const std::string &method() const { return name; }
  /// Computes elements [first, first + count) of `tensor().bytes`, unless they are there. Threads
  /// may call it at once.
  void require(int64_t first, int64_t count) const;
  /// Releases the memory of the elements; they are computed again when they are required. No other
  /// thread reads.
  void release() const;

private:
  enum State : uint8_t { Absent, Computing, Present };
  static constexpr int64_t chunk = 1 << 14; ///< elements that are computed together

  void computeChunk(int64_t number) const;

  std::string name;
  StoredTensor stored;
  Compute compute;
  int64_t elements = 1;
  std::byte *memory = nullptr;
  mutable std::vector<std::atomic<uint8_t>> states; ///< of chunks
};

} // namespace titan::rt
