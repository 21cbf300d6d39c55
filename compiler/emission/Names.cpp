// User text in emitted C++.

#include "compiler/emission/Names.h"

#include "llvm/ADT/StringExtras.h"

using namespace titan;

std::string emission::makeIdentifier(llvm::StringRef name) {
  std::string text;
  for (char c : name) {
    if (llvm::isAlnum(c))
      text += c;
    else if (!text.empty() && text.back() != '_')
      text += '_';
  }
  if (text.empty() || llvm::isDigit(text.front()))
    text.insert(0, "n");
  return text.back() == '_' ? text : text + '_';
}

std::string emission::quote(llvm::StringRef text) {
  std::string quoted = "\"";
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '\n')
      quoted += "\\n";
    else if (c == '\t')
      quoted += "\\t";
    else if (c == '"' || c == '\\' || (c == '?' && i > 0 && text[i - 1] == '?'))
      quoted += {'\\', static_cast<char>(c)};
    else if (llvm::isPrint(c))
      quoted += static_cast<char>(c);
    else // three digits, so a following digit is not part of it
      quoted += {'\\', static_cast<char>('0' + (c >> 6)), static_cast<char>('0' + (c >> 3 & 7)),
                 static_cast<char>('0' + (c & 7))};
  }
  return quoted + "\"";
}

std::string emission::comment(llvm::StringRef text) {
  std::string line = "// ";
  for (char c : text)
    line += llvm::isPrint(c) && c != '\\' ? c : '?';
  return line;
}

std::string emission::NameScope::pick(llvm::StringRef name) {
  std::string base = makeIdentifier(name), candidate = base;
  int &number = nextNumbers[base];
  while (!taken.insert(candidate).second)
    candidate = base + std::to_string(++number) + "_";
  return candidate;
}
