// No input crashes: input that is too large or not text results in a diagnostic.
#include "tests/unit/compiler/syntax/Support.h"

#include <gtest/gtest.h>
#include <random>

namespace titan::syntax {
namespace {

std::string repeated(const std::string &text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i)
    out += text;
  return out;
}

/// Parses, expects a given code among the errors, and formats (which must not crash either).
void expectCode(const std::string &text, Code code) {
  Parsed p(text);
  bool found = false;
  for (const Diagnostic &diagnostic : p.diags.all())
    found |= diagnostic.code == code;
  EXPECT_TRUE(found) << p.errors().substr(0, 400);
  EXPECT_EQ(formatted(text), "<errors>");
}

// Brackets of each kind, prefix operators, chains of operators and of conditionals.
TEST(Limits, Nesting) {
  for (const char *opener : {"(", "[", "{", "f(", "x["})
    expectCode("fn f(x) = " + repeated(opener, 100'000), Code::NestingTooDeep);
  for (const char *prefix : {"- ", "not ", "x + ", "x ** ", "x @ ", "if x then x else ", "(x)[a]("})
    expectCode("fn f(x) = " + repeated(prefix, 20'000) + "x\n", Code::NestingTooDeep);
  expectCode("fn f(x) = x" + repeated("[a: 1]", 20'000) + "\n", Code::NestingTooDeep);
  expectCode("block B(x) -> x {" + repeated("repeat n {", 20'000), Code::NestingTooDeep);
}

// Just below the limit there is no complaint and no overflow.
TEST(Limits, NestingBelowTheLimit) {
  EXPECT_EQ(Parsed("fn f(x) = " + repeated("(", 240) + "x" + repeated(")", 240) + "\n").errors(),
            "");
  EXPECT_EQ(Parsed("fn f(x) = x" + repeated(" + x", 490) + "\n").errors(), "");
  EXPECT_EQ(Parsed("fn f(x) = " + repeated("if a then b else ", 490) + "c\n").errors(), "");
  EXPECT_EQ(Parsed("fn f(x) = " + repeated("- ", 490) + "c\n").errors(), "");
  EXPECT_EQ(
      Parsed("block B(x) -> x {\n" + repeated("repeat n {\n", 240) + repeated("}\n", 241)).errors(),
      "");
}

// Wide is not deep: a long list, a long chain of `else if`, many statements.
TEST(Limits, WidthIsFree) {
  EXPECT_EQ(Parsed("fn f(x) = [" + repeated("-1, ", 20'000) + "]\n").errors(), "");
  EXPECT_EQ(Parsed("block B(x) -> x {\nif a { x = 1 }" + repeated(" else if b { x = 2 }", 2'000) +
                   "\n}\n")
                .diags.errorCount(),
            0u);
  EXPECT_EQ(Parsed("block B(x) -> x {\n" + repeated("x = x + 1\n", 10'000) + "}\n").errors(), "");
}

// Too many tokens, and ten megabytes of one line.
TEST(Limits, FileSize) {
  expectCode(repeated("x ", 600'000), Code::FileTooLong);
  EXPECT_EQ(Parsed("# " + std::string(10'000'000, 'x') + "\nfn f(x) = x\n").errors(), "");
  EXPECT_EQ(Parsed("fn f(x) = " + std::string(10'000'000, 'x') + "\n").errors(), "");
}

// Bytes that are no UTF-8, NUL, and an empty file.
TEST(Limits, Encoding) {
  expectCode("fn f(x) = x # \xff\n", Code::BadEncoding);
  expectCode(std::string("fn f(x)\0 = x\n", 13), Code::BadEncoding);
  EXPECT_EQ(Parsed("").errors(), "");
  EXPECT_EQ(Parsed("\xEF\xBB\xBF"
                   "fn f(x) = x\n")
                .errors(),
            "");
}

// Numbers beyond their type.
TEST(Limits, Numbers) {
  expectCode("fn f(x) = 9223372036854775808\n", Code::NumberTooLarge);
  expectCode("fn f(x) = 1e400\n", Code::NumberTooLarge);
  EXPECT_EQ(Parsed("fn f(x) = 9_223_372_036_854_775_807 + 1e300\n").errors(), "");
}

// Random sequences of the language's own tokens: reported or accepted, and if accepted, formatting
// is stable and keeps the tree.
TEST(Limits, RandomTokens) {
  const char *const words[] = {"model",  "block",  "fn",  "parallel", "train",  "dims",   "param",
                               "input",  "output", "let", "repeat",   "return", "if",     "then",
                               "else",   "as",     "on",  "with",     "splits", "stores", "over",
                               "along",  "and",    "not", "true",     "none",   "x",      "head",
                               "f(",     "1",      "0.5", "\"s\"",    "->",     "..",     "**",
                               "==",     "=",      "~",   "+",        "-",      "@",      ",",
                               ";",      ":",      ".",   "(",        ")",      "[",      "]",
                               "{",      "}",      "\n",  "\n",       "# c\n",  "!",      "\"",
                               "import", "of",     "in",  "match",    "buffer", "update", "loss"};
  std::mt19937 random(7);
  size_t accepted = 0;
  for (int round = 0; round < 3'000; ++round) {
    std::string text;
    for (size_t n = random() % 30; n > 0; --n)
      text += std::string(words[random() % std::size(words)]) + (random() % 4 ? " " : "");
    Parsed p(text);
    if (p.diags.hasErrors())
      continue;
    ++accepted;
    std::string once = formatted(text);
    EXPECT_EQ(formatted(once), once) << text;
    EXPECT_EQ(Parsed(once).tree(), p.tree()) << text;
  }
  EXPECT_GT(accepted, 10u);
}

} // namespace
} // namespace titan::syntax
