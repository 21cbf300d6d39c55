#include "CallSignature.h"

#include <algorithm>
#include <cstring>

namespace titan::rt {

namespace {

/// The last eight characters, which distinguish lines of one file, as a number.
uint64_t loadEnd(const char *text, size_t length) {
  uint64_t end = 0;
  const size_t bytes = std::min(length, sizeof(end));
  std::memcpy(&end, text + length - bytes, bytes);
  return end;
}

} // namespace

uint64_t computeHash(const CallSignature &call) {
  uint64_t hash = 0;
  auto mix = [&](uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  };
  auto mixText = [&](const char *text) {
    const size_t length = std::strlen(text);
    mix(loadEnd(text, length) ^ length << 56);
  };
  mixText(call.operation);
  if (call.hasOneSite) {
    mixText(call.site.action);
    mixText(call.site.source);
  }
  mix(static_cast<uint64_t>(call.bytes));
  mix(static_cast<uint64_t>(call.type) << 32 | static_cast<uint32_t>(call.detail));
  return hash;
}

} // namespace titan::rt
