// Numbers of a stored tensor, read in blocks and converted.
#pragma once

#include "base/files/Safetensors.h"
#include "base/weights/StridedLayout.h"
#include "files/StoredValues.h"
#include "weights/LazyTensor.h"

namespace titan::rt {

class StridedSource {
public:
  StridedSource() = default;
  /// `stored` is the type of `tensor` and converts to `type`. `lazy` computes the elements of the
  /// tensor; null: they are there.
  StridedSource(const StoredTensor &tensor, const StoredType &stored, DType type,
                const LazyTensor *lazy = nullptr)
      : bytes(tensor.bytes), stored(&stored), type(type), lazy(lazy) {}

  /// Reads a block of this tensor to its offset in `out`, which has the type `type`. Large blocks
  /// are written past the caches.
  void read(const StridedBlock &block, void *out) const;
  /// Reads elements [first, first + count) to the beginning of `out`.
  void read(int64_t first, int64_t count, void *out) const;
  int64_t countElements() const { return static_cast<int64_t>(bytes.size()) / stored->bytes; }

private:
  void require(const StridedBlock &block) const;
  void convert(const std::byte *from, int64_t count, std::byte *to) const;
  template <typename Word>
  void readColumn(const StridedBlock &block, const std::byte *from, std::byte *to) const;
  template <typename Word>
  void readAs(const StridedBlock &block, const std::byte *from, std::byte *to) const;

  std::span<const std::byte> bytes;
  const StoredType *stored = nullptr;
  DType type = DType::F32;
  const LazyTensor *lazy = nullptr;
};

} // namespace titan::rt
