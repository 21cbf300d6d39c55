// Environment variables with a few legal words.
#pragma once

#include "base/Error.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>
#include <string_view>

namespace titan::rt {

/// The index of the variable's value in `words`; -1 if it is unset or empty. For other values,
/// throws UserError with the variable and all words.
inline int readWord(const char *variable, std::span<const std::string_view> words) {
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
