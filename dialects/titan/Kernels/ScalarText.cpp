// Prints scalar expressions.

#include "dialects/titan/Kernels/ScalarText.h"

#include <charconv>
#include <cmath>

using namespace titan;

std::string ir::fillPattern(llvm::StringRef pattern, llvm::ArrayRef<std::string> in,
                            llvm::StringRef type) {
  std::string text;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '$')
      text += pattern[i];
    else if (pattern[++i] == 'T')
      text += type;
    else
      text += in[pattern[i] - '0'];
  }
  return text;
}

std::string ir::getLiteral(double value) {
  if (std::isnan(value))
    return "NAN";
  if (std::isinf(value))
    return value > 0 ? "INFINITY" : "-INFINITY";
  char buffer[32];
  char *end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return text;
}
