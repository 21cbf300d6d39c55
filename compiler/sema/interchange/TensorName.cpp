#include "compiler/sema/interchange/TensorName.h"

#include <algorithm>
#include <cctype>

namespace titan::sema {

static std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

static bool isWord(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '.';
  });
}

/// `layers` or `layers + 3`.
static std::optional<NameIndex> parseIndex(std::string_view text) {
  const size_t plus = text.find('+');
  NameIndex index{std::string(trim(text.substr(0, plus))), {}};
  if (plus != std::string_view::npos) {
    index.offset = trim(text.substr(plus + 1));
    if (!isWord(index.offset))
      return std::nullopt;
  }
  return isWord(index.name) ? std::optional(index) : std::nullopt;
}

std::optional<TensorName> parseTensorName(std::string_view text) {
  TensorName name;
  for (size_t open; (open = text.find('{')) != std::string_view::npos;) {
    const size_t close = text.find('}', open);
    if (close == std::string_view::npos)
      return std::nullopt;
    std::optional<NameIndex> index = parseIndex(text.substr(open + 1, close - open - 1));
    if (!index)
      return std::nullopt;
    name.literals.emplace_back(text.substr(0, open));
    name.indices.push_back(*index);
    text.remove_prefix(close + 1);
  }
  if (text.find('}') != std::string_view::npos)
    return std::nullopt;
  name.literals.emplace_back(text);
  return name;
}

} // namespace titan::sema
