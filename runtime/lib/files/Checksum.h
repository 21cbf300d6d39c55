// CRC-32C (Castagnoli), the checksum of checkpoint files and of TensorBoard records. Processors
// have an instruction for it (a billion bytes take a fraction of a second), and other software
// knows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace titan::rt {

/// The checksum of these bytes; `before` is the checksum of the preceding bytes.
uint32_t crc32c(std::span<const std::byte> bytes, uint32_t before = 0);
inline uint32_t crc32c(const std::string &text) {
  return crc32c(std::as_bytes(std::span(text)));
}

} // namespace titan::rt
