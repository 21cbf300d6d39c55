// Every program and every documented example in the repository.
#include "tests/unit/compiler/syntax/Support.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

namespace titan::syntax {
namespace {

std::string read(const std::filesystem::path &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Name and text of all .titan files, and of each whole program in the language reference.
std::vector<std::pair<std::string, std::string>> programs() {
  std::vector<std::pair<std::string, std::string>> out;
  for (const char *root : {"examples", "stdlib"})
    for (const auto &entry : std::filesystem::recursive_directory_iterator(root))
      if (entry.path().extension() == ".titan")
        out.emplace_back(entry.path().string(), read(entry.path()));
  std::string page = read("docs/language.md");
  const std::string fence = "```titan\n";
  for (size_t at = 0; (at = page.find(fence, at)) != std::string::npos;) {
    size_t begin = at + fence.size(), end = page.find("```", begin);
    out.emplace_back("docs/language.md, byte " + std::to_string(begin),
                     page.substr(begin, end - begin));
    at = end;
  }
  return out;
}

// The working directory is the repository, so the tests below really see files.
TEST(Files, AreFound) {
  EXPECT_GE(programs().size(), 10u);
}

// All of them parse.
TEST(Files, Parse) {
  for (const auto &[name, text] : programs())
    EXPECT_EQ(Parsed(text, name).errors(), "");
}

// Formatting again changes nothing, and formatting does not change the tree.
TEST(Files, FormatIsStableAndKeepsTheTree) {
  for (const auto &[name, text] : programs()) {
    std::string once = formatted(text);
    EXPECT_EQ(formatted(once), once) << name;
    EXPECT_EQ(Parsed(once).tree(), Parsed(text).tree()) << name;
  }
}

// Formatting restores a file with wrong spacing, and one with line ends of Windows.
TEST(Files, FormatRestoresRuinedSpacing) {
  for (const auto &[name, text] : programs()) {
    std::string flat, windows;
    for (char c : text) {
      if (c == '\n')
        windows += '\r';
      windows += c;
      if (c == ' ' && !flat.empty() && flat.back() == '\n')
        continue;
      flat += c;
    }
    EXPECT_EQ(formatted(flat), formatted(text)) << name;
    EXPECT_EQ(formatted(windows), formatted(text)) << name;
  }
}

} // namespace
} // namespace titan::syntax
