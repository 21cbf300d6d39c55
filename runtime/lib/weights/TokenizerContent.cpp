#include "TokenizerContent.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>

namespace titan::rt {

namespace {

std::optional<uint64_t> takeVarint(std::string_view &bytes) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80)
      return value;
  }
  return std::nullopt;
}

/// Removes the first field. False unless it has a length, as all fields of a SentencePiece model.
bool skipField(std::string_view &bytes) {
  constexpr uint64_t wireType = 2;
  const std::optional<uint64_t> tag = takeVarint(bytes);
  if (!tag || *tag >> 3 == 0 || (*tag & 7) != wireType)
    return false;
  const std::optional<uint64_t> length = takeVarint(bytes);
  if (!length || *length > bytes.size())
    return false;
  bytes.remove_prefix(*length);
  return true;
}

/// Removes the first line, without its end.
std::string_view takeLine(std::string_view &text) {
  std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  if (line.ends_with('\r'))
    line.remove_suffix(1);
  return line;
}

bool isBase64(std::string_view word) {
  return word.size() % 4 == 0 && std::ranges::all_of(word, [](unsigned char c) {
           return std::isalnum(c) || c == '+' || c == '/' || c == '=';
         });
}

bool isNumber(std::string_view word) {
  return !word.empty() &&
         std::ranges::all_of(word, [](unsigned char c) { return std::isdigit(c); });
}

} // namespace

bool isListOfMerges(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = takeLine(text);
    if (!line.empty() && !line.starts_with("#version") && std::ranges::count(line, ' ') != 1)
      return false;
  }
  return true;
}

bool isListOfRanks(std::string_view text) {
  if (text.empty())
    return false;
  while (!text.empty()) {
    const std::string_view line = takeLine(text);
    const size_t space = line.find(' ');
    if (!line.empty() && (space == line.npos || !isBase64(line.substr(0, space)) ||
                          !isNumber(line.substr(space + 1))))
      return false;
  }
  return true;
}

bool isProtobufOfModel(std::string_view bytes) {
  if (bytes.empty())
    return false;
  while (!bytes.empty())
    if (!skipField(bytes))
      return false;
  return true;
}

} // namespace titan::rt
