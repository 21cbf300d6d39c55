#include "base/files/Crc32.h"

#include <array>

namespace titan {

namespace {

constexpr size_t atOnce = 8; ///< bytes per step

/// tables[k][byte]: the remainder of a byte that k bytes follow.
std::array<std::array<uint32_t, 256>, atOnce> makeTables() {
  std::array<std::array<uint32_t, 256>, atOnce> tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit)
      value = value >> 1 ^ (value & 1 ? 0xEDB88320 : 0);
    tables[0][byte] = value;
  }
  for (size_t k = 1; k < atOnce; ++k)
    for (size_t byte = 0; byte < 256; ++byte)
      tables[k][byte] = tables[k - 1][byte] >> 8 ^ tables[0][tables[k - 1][byte] & 0xFF];
  return tables;
}

} // namespace

uint32_t crc32(std::string_view bytes, uint32_t before) {
  static const auto tables = makeTables();
  uint32_t crc = ~before;
  auto byteAt = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  size_t at = 0;
  for (; at + atOnce <= bytes.size(); at += atOnce) {
    uint32_t next = 0;
    for (size_t i = 0; i < atOnce; ++i) {
      const uint32_t mixed = byteAt(at + i) ^ (i < 4 ? crc >> (8 * i) & 0xFF : 0);
      next ^= tables[atOnce - 1 - i][mixed];
    }
    crc = next;
  }
  for (; at < bytes.size(); ++at)
    crc = crc >> 8 ^ tables[0][(crc ^ byteAt(at)) & 0xFF];
  return ~crc;
}

} // namespace titan
