#include "base/files/PngFile.h"

#include "base/files/Crc32.h"

#include <algorithm>
#include <string_view>

namespace titan {

namespace {

std::string bigEndian(uint32_t number) {
  return {static_cast<char>(number >> 24), static_cast<char>(number >> 16),
          static_cast<char>(number >> 8), static_cast<char>(number)};
}

/// The checksum of zlib (RFC 1950).
uint32_t adler32(std::string_view bytes) {
  uint32_t low = 1, high = 0;
  for (char byte : bytes) {
    low = (low + static_cast<uint8_t>(byte)) % 65521;
    high = (high + low) % 65521;
  }
  return high << 16 | low;
}

/// Stored blocks (RFC 1951, 3.2.4): a byte that marks the last one, the length, its complement.
std::string store(std::string_view bytes) {
  constexpr size_t most = 65535;
  std::string stream = "\x78\x01";
  for (size_t at = 0; at < bytes.size(); at += most) {
    const std::string_view block = bytes.substr(at, most);
    const auto length = static_cast<uint16_t>(block.size());
    const auto complement = static_cast<uint16_t>(~length);
    stream += {static_cast<char>(at + most >= bytes.size()), static_cast<char>(length & 0xFF),
               static_cast<char>(length >> 8), static_cast<char>(complement & 0xFF),
               static_cast<char>(complement >> 8)};
    stream += block;
  }
  return stream + bigEndian(adler32(bytes));
}

std::string chunk(std::string_view type, std::string_view content) {
  const std::string checked = std::string(type) + std::string(content);
  return bigEndian(static_cast<uint32_t>(content.size())) + checked + bigEndian(crc32(checked));
}

} // namespace

std::string encodePng(std::span<const uint8_t> pixels, int64_t height, int64_t width,
                      int64_t colours) {
  const char kind = colours == 1 ? 0 : colours == 3 ? 2 : 6;
  const auto row = static_cast<size_t>(width * colours);
  std::string lines; // each after the byte of its filter, 0 for none
  for (size_t line = 0; line < static_cast<size_t>(height); ++line) {
    lines += '\0';
    lines.append(reinterpret_cast<const char *>(pixels.data() + line * row), row);
  }
  const std::string size =
      bigEndian(static_cast<uint32_t>(width)) + bigEndian(static_cast<uint32_t>(height));
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", size + std::string{8, kind, 0, 0, 0}) +
         chunk("IDAT", store(lines)) + chunk("IEND", "");
}

} // namespace titan
