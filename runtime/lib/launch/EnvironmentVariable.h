// Environment variables that choose among a few words.
#pragma once

#include "base/Error.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>
#include <string_view>

namespace titan::rt {

/// Which of `words` the variable says, or -1 where it is not set or empty. Throws UserError, which
/// names the variable and all words, where it says another.
inline int wordOf(const char *variable, std::span<const std::string_view> words) {
  const char *text = std::getenv(variable);
  if (!text || !*text)
    return -1;
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end())
    throw UserError(fmt::format("the environment variable {} is '{}', expected {}", variable, text,
                                fmt::join(words, " or ")));
  return static_cast<int>(found - words.begin());
}

} // namespace titan::rt
