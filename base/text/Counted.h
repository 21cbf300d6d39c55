// Counts with their nouns in messages: "1 rank", "2 ranks".
#pragma once

#include <cstdint>
#include <string>

namespace titan {

/// The number with the noun, and with the suffix `plural` unless the number is 1.
inline std::string counted(int64_t count, const std::string &noun, const char *plural = "s") {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : plural);
}

} // namespace titan
