// Occurrences of names in a source text. Header-only.
#pragma once

#include <algorithm>
#include <cctype>
#include <string_view>
#include <unordered_map>

namespace titan::sema {

/// How often the text has each name, without those in comments and strings.
inline std::unordered_map<std::string_view, size_t> countNames(std::string_view text) {
  auto isIdentifierChar = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  std::unordered_map<std::string_view, size_t> counts;
  for (size_t i = 0; i < text.size();) {
    const char begin = text[i];
    size_t end = i + 1;
    if (begin == '#' || begin == '"')
      end = std::min(text.find(begin == '#' ? '\n' : '"', end), text.size() - 1) + 1;
    else
      while (isIdentifierChar(static_cast<unsigned char>(begin)) && end < text.size() &&
             isIdentifierChar(static_cast<unsigned char>(text[end])))
        ++end;
    ++counts[text.substr(i, end - i)];
    i = end;
  }
  return counts;
}

} // namespace titan::sema
