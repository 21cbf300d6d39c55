// Typing errors, checked as `titanc check` does: one token of an example deleted, doubled,
// swapped with its neighbour, or a name misspelt. A program that has become illegal gets one or two
// errors; the first is at the changed line or has a note there.
#include "compiler/sema/check/Check.h"
#include "compiler/syntax/Token.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <random>
#include <sstream>
#include <unistd.h>

namespace titan::sema {
namespace {

namespace fs = std::filesystem;
using syntax::Token;

std::string read(const fs::path &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

enum Kind { Delete, Double, Swap, Rename };
constexpr const char *kindNames[] = {"delete", "double", "swap", "rename"};

struct Mutant {
  std::string text, what;
  Kind kind;
  uint32_t line; ///< the first that changed
  uint32_t last; ///< the last that changed: a swap can reach over empty lines
};

bool isName(std::string_view text) {
  return std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '_';
}

/// A name with one letter doubled, dropped or changed.
std::string misspelt(std::string name, std::mt19937 &random) {
  size_t at = random() % name.size();
  switch (random() % 3) {
  case 0:
    return name.insert(at, 1, name[at]);
  case 1:
    if (name.size() > 1)
      return name.erase(at, 1);
    [[fallthrough]];
  default:
    name[at] = name[at] == 'z' ? 'y' : 'z';
    return name;
  }
}

Mutant mutate(const std::string &text, const std::vector<Token> &tokens, Kind kind,
              std::mt19937 &random) {
  auto self = [&](size_t i) { return std::string(tokens[i].text(text)); };
  size_t at = random() % (tokens.size() - 1);
  while (kind == Rename && !isName(self(at)))
    at = random() % (tokens.size() - 1);
  const Token &token = tokens[at], &next = tokens[at + 1];
  std::string before = text.substr(0, token.offset), after = text.substr(token.end());
  auto line = static_cast<uint32_t>(1 + std::count(before.begin(), before.end(), '\n'));
  switch (kind) {
  case Delete:
    return {before + after, self(at), kind, line, line};
  case Double:
    return {before + self(at) + " " + self(at) + after, self(at), kind, line, line};
  case Swap: {
    std::string between = text.substr(token.end(), next.offset - token.end());
    return {before + self(at + 1) + between + self(at) + text.substr(next.end()),
            self(at) + " and " + self(at + 1), kind, line,
            line + static_cast<uint32_t>(std::count(between.begin(), between.end(), '\n'))};
  }
  case Rename:
    break;
  }
  std::string other = misspelt(self(at), random);
  return {before + other + after, self(at) + " to " + other, kind, line, line};
}

/// Whether the error or one of its notes is at the mutated lines, or beside them.
bool pointsAt(const Diagnostic &diagnostic, FileId file, const Mutant &mutant) {
  auto isNear = [&](const Location &at) {
    return at.file == file && at.line + 1 >= mutant.line && at.line <= mutant.last + 1;
  };
  bool near = isNear(diagnostic.location);
  for (const Note &note : diagnostic.notes)
    near |= isNear(note.location);
  return near;
}

/// Mutants of one kind by their number of errors; `far`: the first error is elsewhere.
struct Row {
  size_t valid = 0, one = 0, two = 0, more = 0, far = 0;
};

class Mutations : public testing::Test {
protected:
  Mutations() {
    directory = fs::temp_directory_path() / ("titan-mutations-" + std::to_string(::getpid()));
    fs::create_directories(directory);
    for (const auto &entry : fs::directory_iterator("examples"))
      if (entry.path().extension() == ".titan") {
        files.push_back(entry.path());
        fs::copy_file(entry.path(), directory / entry.path().filename(),
                      fs::copy_options::overwrite_existing);
      }
    std::sort(files.begin(), files.end());
  }
  ~Mutations() override { fs::remove_all(directory); }

  void tryOne(const fs::path &file, const Mutant &mutant) {
    fs::path path = directory / ("mutant-" + file.filename().string());
    std::ofstream(path, std::ios::binary) << mutant.text;
    SourceManager sources;
    DiagnosticEngine diags(sources);
    CheckRequest request;
    request.file = path.string();
    request.searchDirs = {"stdlib"};
    Checker checker(sources, diags, request);
    if (checker.load())
      checker.checkAll();
    Row &row = table[mutant.kind];
    size_t errors = diags.errorCount();
    ++(errors == 0 ? row.valid : errors == 1 ? row.one : errors == 2 ? row.two : row.more);
    if (errors == 0)
      return;
    auto isError = [](const Diagnostic &diag) { return diag.severity == Severity::Error; };
    const Diagnostic &first = *std::find_if(diags.all().begin(), diags.all().end(), isError);
    bool far = !pointsAt(first, FileId{0}, mutant);
    row.far += far;
    if (far || errors > 2)
      show(file, mutant, errors, diags);
  }

  void show(const fs::path &file, const Mutant &mutant, size_t errors,
            const DiagnosticEngine &diags) {
    worst << "--- " << file.filename().string() << ":" << mutant.line << ": "
          << kindNames[mutant.kind] << " " << mutant.what << ": " << errors << " error(s)\n";
    diags.print(worst, ColorMode::Never);
  }

  fs::path directory;
  std::vector<fs::path> files;
  Row table[4];
  std::ostringstream worst;
};

TEST_F(Mutations, GiveOneOrTwoErrorsThere) {
  std::mt19937 random(5);
  size_t invalid = 0, many = 0, far = 0;
  for (int round = 0; round < 500; ++round) {
    const fs::path &file = files[static_cast<size_t>(round) % files.size()];
    std::string text = read(file);
    std::vector<Token> tokens;
    for (const Token &token : syntax::lex(text))
      if (token.length && text[token.offset] != '#' && text[token.offset] != '\n')
        tokens.push_back(token);
    tryOne(file, mutate(text, tokens, static_cast<Kind>(random() % 4), random));
  }
  std::cout << "kind     valid  1 error  2 errors  more  elsewhere\n";
  for (Kind kind : {Delete, Double, Swap, Rename}) {
    const Row &row = table[kind];
    std::cout << std::left << std::setw(7) << kindNames[kind] << std::right << std::setw(7)
              << row.valid << std::setw(9) << row.one << std::setw(10) << row.two << std::setw(6)
              << row.more << std::setw(11) << row.far << '\n';
    invalid += row.one + row.two + row.more;
    many += row.more;
    far += row.far;
  }
  EXPECT_GT(invalid, 400u);
  EXPECT_EQ(many, 0u) << "of " << invalid << "\n" << worst.str();
  // Where a declaration is misspelt, the error is at its uses: one in a hundred is allowed for.
  EXPECT_LE(far, invalid / 100) << "of " << invalid << "\n" << worst.str();
}

} // namespace
} // namespace titan::sema
