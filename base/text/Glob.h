// Glob patterns for names, for the compiler and for its programs. Header-only.
#pragma once

#include <string_view>

namespace titan {

/// The length of the pattern's first element if it matches the character, else 0: `?`, a set such
/// as `[qv]`, or the character itself.
inline size_t matchElement(std::string_view pattern, char character) {
  if (pattern.empty())
    return 0;
  const size_t end = pattern[0] == '[' ? pattern.find(']') : std::string_view::npos;
  if (end != std::string_view::npos)
    return pattern.substr(1, end - 1).find(character) == std::string_view::npos ? 0 : end + 1;
  return pattern[0] == '?' || pattern[0] == character ? 1 : 0;
}

/// Glob match of a whole name: `*` any run, `?` any character, `[qv]` one of these characters.
inline bool matchesGlob(std::string_view pattern, std::string_view name) {
  size_t p = 0, n = 0, star = std::string_view::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (const size_t length = matchElement(pattern.substr(p), name[n])) {
      p += length;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*')
    ++p;
  return p == pattern.size();
}

} // namespace titan
