#include "AssembledTensors.h"

#include "base/Error.h"
#include "files/StoredValues.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace titan::rt {

namespace {

using Chunk = ChunkedTensor::Chunk;

int64_t countElements(std::span<const int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

bool isRowMajor(const Chunk &chunk) {
  int64_t stride = 1;
  for (size_t d = chunk.sizes.size(); d-- > 0; stride *= chunk.sizes[d])
    if (chunk.sizes[d] != 1 && chunk.strides[d] != stride)
      return false;
  return true;
}

/// The elements of a tensor in row-major order, in runs of one chunk each.
class Runs {
public:
  explicit Runs(const ChunkedTensor &tensor) : tensor(tensor), size(*storedBytes(tensor.dtype)) {}

  /// Calls visit(first byte, bytes between elements, count) for elements [first, first + count).
  template <typename Visit> void forEach(int64_t first, int64_t count, Visit visit) const {
    std::vector<int64_t> index(tensor.shape.size());
    for (int64_t at = first, end = first + count, done = 0; at < end; at += done) {
      for (size_t d = index.size(), rest = static_cast<size_t>(at); d-- > 0;) {
        index[d] = static_cast<int64_t>(rest % static_cast<size_t>(tensor.shape[d]));
        rest /= static_cast<size_t>(tensor.shape[d]);
      }
      const Chunk &chunk = findChunk(index);
      int64_t from = 0, left = 1;
      for (size_t d = 0; d < index.size(); ++d) {
        left = chunk.offsets[d] + chunk.sizes[d] - index[d]; // of the last dimension
        from += (index[d] - chunk.offsets[d]) * chunk.strides[d];
      }
      done = std::min(left, end - at);
      visit(chunk.elements.data() + from * size, (index.empty() ? 1 : chunk.strides.back()) * size,
            done);
    }
  }

private:
  const Chunk &findChunk(std::span<const int64_t> index) const {
    return *std::find_if(tensor.chunks.begin(), tensor.chunks.end(), [&](const Chunk &chunk) {
      for (size_t d = 0; d < index.size(); ++d)
        if (index[d] < chunk.offsets[d] || index[d] >= chunk.offsets[d] + chunk.sizes[d])
          return false;
      return true;
    });
  }

  const ChunkedTensor &tensor;
  const int64_t size;
};

/// Elements of a lazy tensor, in f32.
void computeElements(const ChunkedTensor &tensor, int64_t first, int64_t count, float *out) {
  const StoredType &type = *findStoredType(tensor.dtype);
  Runs(tensor).forEach(first, count, [&](const std::byte *from, int64_t stride, int64_t run) {
    if (stride == type.bytes)
      convertStored(type, from, run, DType::F32, out);
    else
      for (int64_t i = 0; i < run; ++i)
        convertStored(type, from + i * stride, 1, DType::F32, out + i);
    out += run;
  });
}

std::vector<std::byte> copyElements(const ChunkedTensor &tensor) {
  const int64_t size = *storedBytes(tensor.dtype), count = countElements(tensor.shape);
  std::vector<std::byte> all(static_cast<size_t>(count * size));
  std::byte *out = all.data();
  Runs(tensor).forEach(0, count, [&](const std::byte *from, int64_t stride, int64_t run) {
    for (int64_t i = 0; i < run; ++i, out += size)
      std::memcpy(out, from + i * stride, static_cast<size_t>(size));
  });
  return all;
}

} // namespace

void AssembledTensors::add(const std::string &name, const ChunkedTensor &tensor) {
  const auto bytes = static_cast<size_t>(countElements(tensor.shape) * *storedBytes(tensor.dtype));
  const bool isNarrowFloat =
      tensor.dtype == "F32" || tensor.dtype == "BF16" || tensor.dtype == "F16";
  if (tensor.chunks.size() == 1 && isRowMajor(tensor.chunks[0])) {
    present[name] = {tensor.dtype, tensor.shape, tensor.chunks[0].elements.first(bytes)};
  } else if (isNarrowFloat) {
    lazy[name] = std::make_unique<LazyTensor>("chunks", tensor.dtype, tensor.shape,
                                              [&tensor](int64_t first, int64_t count, float *out) {
                                                computeElements(tensor, first, count, out);
                                              });
  } else {
    memory.push_back(copyElements(tensor));
    present[name] = {tensor.dtype, tensor.shape, memory.back()};
  }
}

void AssembledTensors::addTo(std::map<std::string, const StoredTensor *> &byName) const {
  for (const auto &[name, tensor] : present)
    byName.emplace(name, &tensor);
  for (const auto &[name, tensor] : lazy)
    byName.emplace(name, &tensor->tensor());
}

const LazyTensor *AssembledTensors::find(const std::string &name) const {
  const auto found = lazy.find(name);
  return found == lazy.end() ? nullptr : found->second.get();
}

void AssembledTensors::release() const {
  source.release();
  for (const auto &[name, tensor] : lazy)
    tensor->release();
}

} // namespace titan::rt
