// Typing errors: one token of a real program deleted, doubled, swapped with its neighbour or
// replaced. A text that has become illegal gets one or two errors, at the changed token or with a
// note there.
#include "compiler/syntax/Token.h"
#include "tests/unit/compiler/syntax/Support.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>

namespace titan::syntax {
namespace {

std::string read(const char *path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Mutant {
  std::string text;
  std::string what;
  uint32_t line; // the first that changed
};

std::string_view getText(const std::string &text, const Token &token) {
  return token.text(text);
}

Mutant mutate(const std::string &text, const std::vector<Token> &tokens, std::mt19937 &random) {
  const char *const replacements[] = {"zzz", "let", "(", "}", "=", "7", "over", ","};
  size_t at = random() % (tokens.size() - 1);
  const Token &token = tokens[at], &next = tokens[at + 1];
  std::string before = text.substr(0, token.offset), after = text.substr(token.end());
  std::string self(getText(text, token));
  auto line = static_cast<uint32_t>(1 + std::count(before.begin(), before.end(), '\n'));
  switch (random() % 4) {
  case 0:
    return {before + after, "delete " + self, line};
  case 1:
    return {before + self + " " + self + after, "double " + self, line};
  case 2: {
    std::string other(getText(text, next));
    std::string between = text.substr(token.end(), next.offset - token.end());
    return {before + other + between + self + text.substr(next.end()), "swap " + self, line};
  }
  default:
    const char *replacement = replacements[random() % std::size(replacements)];
    return {before + replacement + after, "replace " + self + " by " + replacement, line};
  }
}

/// Whether the error, or one of its notes, is at most one line away: the parser misses a `{` on the
/// line after it, and swapped tokens may be on two lines.
bool pointsAt(const Diagnostic &diagnostic, uint32_t line) {
  auto isNear = [&](const Location &at) { return at.line + 1 >= line && at.line <= line + 1; };
  bool near = isNear(diagnostic.location);
  for (const Note &note : diagnostic.notes)
    near |= isNear(note.location);
  return near;
}

TEST(Mutation, OneTokenGivesOneOrTwoErrorsNearby) {
  std::mt19937 random(11);
  size_t invalid = 0, many = 0, far = 0;
  for (const char *path : {"examples/llama3_debug.titan", "examples/gpt2_debug.titan"}) {
    std::string text = read(path);
    std::vector<Token> tokens;
    for (const Token &token : lex(text))
      if (token.length && text[token.offset] != '#' && text[token.offset] != '\n')
        tokens.push_back(token);
    for (int round = 0; round < 400; ++round) {
      Mutant mutant = mutate(text, tokens, random);
      Parsed p(mutant.text);
      if (!p.diags.hasErrors())
        continue;
      ++invalid;
      many += p.diags.errorCount() > 2;
      if (!pointsAt(p.diags.all().front(), mutant.line))
        ++far;
    }
  }
  EXPECT_GT(invalid, 500u);
  EXPECT_LE(many, invalid / 100) << "of " << invalid;
  EXPECT_LE(far, invalid / 50) << "of " << invalid;
}

} // namespace
} // namespace titan::syntax
