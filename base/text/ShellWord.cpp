#include "base/text/ShellWord.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace titan {

std::string forShell(const std::string &word) {
  const bool isPlain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) ||
           std::string_view("_-+.,=/").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (isPlain)
    return word;
  std::string quoted = "'";
  for (char c : word)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

} // namespace titan
