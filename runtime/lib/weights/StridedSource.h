// Numbers of a stored tensor, read with strides and converted.
#pragma once

#include "base/files/Safetensors.h"
#include "files/StoredValues.h"

namespace titan::rt {

class StridedSource {
public:
  StridedSource() = default;
  /// `stored` is the type of `tensor` and converts to `type`.
  StridedSource(const StoredTensor &tensor, const StoredType &stored, DType type)
      : bytes(tensor.bytes), stored(&stored), type(type) {}

  /// Elements `first + i * stride` for i < count, to `out[at + i * step]`, which has the type
  /// `type`. One of the strides is 1.
  void read(int64_t first, int64_t stride, int64_t count, int64_t at, int64_t step,
            void *out) const;
  int64_t countElements() const { return static_cast<int64_t>(bytes.size()) / stored->bytes; }

private:
  std::span<const std::byte> bytes;
  const StoredType *stored = nullptr;
  DType type = DType::F32;
};

} // namespace titan::rt
