#include "compiler/syntax/ForeignNames.h"

#include <cctype>
#include <map>
#include <sstream>

namespace titan::syntax {
namespace {

struct Foreign {
  const char *names, *example, *remark, *module;
};

constexpr Foreign foreignNames[] = {
#define TITAN_FOREIGN(names, example, remark, module) {names, example, remark, module},
#include "compiler/syntax/ForeignNames.def"
};

struct ForeignArgument {
  const char *names, *functions;
  Foreign entry;
};

constexpr ForeignArgument foreignArguments[] = {
#define TITAN_FOREIGN(names, example, remark, module)
#define TITAN_FOREIGN_ARGUMENT(names, functions, example, remark, module)                          \
  {names, functions, {names, example, remark, module}},
#include "compiler/syntax/ForeignNames.def"
};

bool hasWord(const char *words, const std::string &word) {
  std::istringstream all(words);
  for (std::string one; all >> one;)
    if (one == word)
      return true;
  return false;
}

/// The example, with `value` instead of the identifier `x`.
std::string withValue(const std::string &example, const std::string &value) {
  auto isIdentifierChar = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  std::string text;
  for (size_t i = 0; i < example.size(); ++i) {
    bool begins = i == 0 || !isIdentifierChar(example[i - 1]);
    bool ends = i + 1 == example.size() || !isIdentifierChar(example[i + 1]);
    text += example[i] == 'x' && begins && ends ? value : std::string(1, example[i]);
  }
  return text;
}

std::string buildHelp(const Foreign &entry, const std::string &value) {
  std::string help = entry.remark, example = withValue(entry.example, value);
  if (!example.empty())
    help += help.empty() ? "write `" + example + "`" : ": `" + example + "`";
  if (*entry.module)
    help += std::string(", with `import ") + entry.module + "`";
  return help;
}

} // namespace

std::string foreignHelp(const std::string &name, const std::string &value) {
  static const std::map<std::string, const Foreign *> byName = [] {
    std::map<std::string, const Foreign *> all;
    for (const Foreign &entry : foreignNames) {
      std::istringstream names(entry.names);
      for (std::string one; names >> one;)
        all.emplace(one, &entry);
    }
    return all;
  }();
  auto found = byName.find(name);
  return found == byName.end() ? "" : buildHelp(*found->second, value);
}

std::string foreignArgumentHelp(const std::string &function, const std::string &argument) {
  for (const ForeignArgument &each : foreignArguments)
    if (hasWord(each.names, argument) && (!*each.functions || hasWord(each.functions, function)))
      return buildHelp(each.entry, "x");
  return "";
}

} // namespace titan::syntax
