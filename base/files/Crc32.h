// CRC-32 of ISO 3309: the checksum in PNG and zip files. (CRC-32C is another one: Checksum.h.)
#pragma once

#include <cstdint>
#include <string_view>

namespace titan {

/// The checksum of these bytes; `before` is the checksum of the preceding bytes.
uint32_t crc32(std::string_view bytes, uint32_t before = 0);

} // namespace titan
