// CRC-32C (Castagnoli): the checksum of checkpoints' files and of TensorBoard's records, because it
// is in the processor (a billion bytes take a fraction of a second) and known to other software.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace titan::rt {

/// The checksum of these bytes; `before` is that of the bytes that precede them.
uint32_t crc32c(std::span<const std::byte> bytes, uint32_t before = 0);
inline uint32_t crc32c(const std::string &text) {
  return crc32c(std::as_bytes(std::span(text)));
}

} // namespace titan::rt
