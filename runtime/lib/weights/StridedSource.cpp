#include "StridedSource.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace titan::rt {

namespace {

constexpr int64_t atOnce = 256;

/// Copies elements with strides, counted in elements.
template <typename Element>
void copyElements(const std::byte *from, int64_t stride, int64_t count, int64_t step,
                  std::byte *to) {
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * step * static_cast<int64_t>(sizeof(Element)),
                from + i * stride * static_cast<int64_t>(sizeof(Element)), sizeof(Element));
}

void copyStrided(int64_t elementBytes, const std::byte *from, int64_t stride, int64_t count,
                 int64_t step, std::byte *to) {
  switch (elementBytes) {
  case 8:
    return copyElements<uint64_t>(from, stride, count, step, to);
  case 4:
    return copyElements<uint32_t>(from, stride, count, step, to);
  case 2:
    return copyElements<uint16_t>(from, stride, count, step, to);
  default:
    return copyElements<uint8_t>(from, stride, count, step, to);
  }
}

} // namespace

void StridedSource::read(int64_t first, int64_t stride, int64_t count, int64_t at, int64_t step,
                         void *out) const {
  const int64_t size = sizeOf(type);
  const std::byte *from = bytes.data() + first * stored->bytes;
  std::byte *to = static_cast<std::byte *>(out) + at * size;
  if (stride == 1 && step == 1)
    return convertStored(*stored, from, count, type, to);
  alignas(8) std::array<std::byte, atOnce * 8> gathered, converted;
  for (int64_t done = 0; done < count; done += atOnce) {
    const int64_t some = std::min(atOnce, count - done);
    const std::byte *run = from + done * stride * stored->bytes;
    std::byte *target = to + done * step * size;
    if (stride != 1) {
      copyStrided(stored->bytes, run, stride, some, 1, gathered.data());
      run = gathered.data();
    }
    if (step == 1) {
      convertStored(*stored, run, some, type, target);
      continue;
    }
    convertStored(*stored, run, some, type, converted.data());
    copyStrided(size, converted.data(), 1, some, step, target);
  }
}

} // namespace titan::rt
