#include "Checksum.h"

#include <array>
#include <cstring>

#ifdef __x86_64__
#include <nmmintrin.h>
#endif

namespace titan::rt {

namespace {

/// The effect of each byte value on the remainder, bits reflected.
constexpr std::array<uint32_t, 256> makeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit)
      remainder = remainder >> 1 ^ (remainder & 1 ? 0x82f63b78u : 0);
    table[byte] = remainder;
  }
  return table;
}

constexpr std::array<uint32_t, 256> table = makeTable();

uint32_t updateByTable(const std::byte *at, size_t count, uint32_t remainder) {
  for (; count > 0; --count, ++at)
    remainder = remainder >> 8 ^ table[(remainder ^ std::to_integer<uint32_t>(*at)) & 0xff];
  return remainder;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) uint32_t updateByInstruction(const std::byte *at, size_t count,
                                                               uint32_t remainder) {
  uint64_t wide = remainder;
  for (; count >= 8; count -= 8, at += 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    wide = _mm_crc32_u64(wide, word);
  }
  return updateByTable(at, count, static_cast<uint32_t>(wide));
}
#endif

} // namespace

uint32_t crc32c(std::span<const std::byte> bytes, uint32_t before) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("sse4.2"))
    return ~updateByInstruction(bytes.data(), bytes.size(), ~before);
#endif
  return ~updateByTable(bytes.data(), bytes.size(), ~before);
}

} // namespace titan::rt
