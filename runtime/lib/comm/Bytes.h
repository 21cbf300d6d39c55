// Byte offsets into untyped memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace titan::rt {

/// The address `bytes` bytes after `data`.
inline const std::byte *at(const void *data, int64_t bytes) {
  return static_cast<const std::byte *>(data) + bytes;
}
inline std::byte *at(void *data, int64_t bytes) {
  return static_cast<std::byte *>(data) + bytes;
}

} // namespace titan::rt
