// Each syntax error is reported once, at its location, and does not hide the next one.
#include "tests/unit/compiler/syntax/Support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace titan::syntax {
namespace {

using testing::HasSubstr;

/// The diagnostics of a statement inside a block, without the file name.
std::string inBlock(const std::string &statement) {
  std::string text = Parsed("block B(x) -> x {\n" + statement + "\n}\n", "t").errors();
  for (size_t at; (at = text.find("t:2:")) != std::string::npos;)
    text.erase(at, 4);
  return text;
}

// The message names what the grammar wanted and what it came after; the caret is behind the word
// when the line ends there.
TEST(Recovery, MissingDimension) {
  EXPECT_EQ(inBlock("let h = softmax(x, over)"),
            "24: error: expected a dimension name after `over` [T0101]\n"
            "let h = softmax(x, over)\n"
            "                       ^\n");
  EXPECT_EQ(inBlock("param w[embed, embed as] = 1"),
            "24: error: expected a new dimension name after `as` [T0101]\n"
            "param w[embed, embed as] = 1\n"
            "                       ^\n");
}

// An error in an entry of a map of weights does not hide one in the next.
TEST(Recovery, EntriesOfWeights) {
  const std::string errors =
      Parsed("weights \"hf\" for M {\n  merge a = a + / b\n  w = = 1\n  v = \"v\"\n}\n", "t")
          .errors();
  EXPECT_THAT(errors, HasSubstr("t:2:17: error: expected an expression after `+`"));
  EXPECT_THAT(errors, HasSubstr("t:3:7: error: "));
  EXPECT_THAT(errors, testing::Not(HasSubstr("t:4:")));
  EXPECT_THAT(errors, testing::Not(HasSubstr("expected a declaration")));
}

TEST(Recovery, MissingExpressionAtTheEndOfTheLine) {
  EXPECT_EQ(inBlock("let h ="), "8: error: expected an expression after `=` [T0101]\n"
                                "let h =\n"
                                "       ^\n");
}

TEST(Recovery, MissingName) {
  EXPECT_EQ(inBlock("repeat layers as { x = 1 }"), "18: error: expected a name after `as` [T0101]\n"
                                                   "repeat layers as { x = 1 }\n"
                                                   "                 ^\n");
}

TEST(Recovery, MissingEquals) {
  EXPECT_EQ(inBlock("let x[batch] h @ w"), "14: error: expected `=` after `]` [T0101]\n"
                                           "let x[batch] h @ w\n"
                                           "             ^\n");
}

TEST(Recovery, TwoOperands) {
  EXPECT_EQ(inBlock("let y = a b"),
            "11: error: expected an operator or a new line after `a` [T0101]\n"
            "let y = a b\n"
            "          ^\n");
}

TEST(Recovery, TwoOperators) {
  EXPECT_EQ(inBlock("let y = a + * b"), "13: error: expected an expression after `+` [T0101]\n"
                                        "let y = a + * b\n"
                                        "            ^\n");
}

TEST(Recovery, ConditionalWithoutElse) {
  EXPECT_EQ(inBlock("let y = if a then b"), "20: error: expected `else` after `b` [T0101]\n"
                                            "let y = if a then b\n"
                                            "                   ^\n");
}

TEST(Recovery, KeywordAsName) {
  EXPECT_EQ(inBlock("let model = 3"), "5: error: expected a name after `let` [T0101]\n"
                                      "let model = 3\n"
                                      "    ^~~~~\n"
                                      "help: `model` is a keyword, so it cannot be a name\n");
}

TEST(Recovery, MisspeltKeyword) {
  EXPECT_EQ(inBlock("parm w[embed] = 1"), "6: error: expected `=` after `parm` [T0101]\n"
                                          "parm w[embed] = 1\n"
                                          "     ^\n"
                                          "help: write `param` instead of `parm`\n");
}

TEST(Recovery, ForeignKeyword) {
  EXPECT_THAT(Parsed("def f(x) = x\n").errors(), HasSubstr("help: write `fn` instead of `def`"));
}

TEST(Recovery, ComparisonForDefinition) {
  EXPECT_THAT(inBlock("x == 3"), HasSubstr("help: write `=` instead of `==`"));
}

TEST(Recovery, OpenString) {
  EXPECT_EQ(inBlock("let s = \"abc"), "9: error: this string is not closed on its line [T0105]\n"
                                      "let s = \"abc\n"
                                      "        ^~~~\n"
                                      "help: insert `\"`\n");
}

TEST(Recovery, StrayCharacters) {
  EXPECT_EQ(inBlock("let e = 12 § 3"), "12: error: unexpected `§` [T0104]\n"
                                       "let e = 12 § 3\n"
                                       "           ^\n");
  EXPECT_THAT(inBlock("if a && b { x = 1 }"), HasSubstr("help: write `and`"));
}

TEST(Recovery, ChainedComparison) {
  EXPECT_EQ(inBlock("let r = 1 < 2 < 3"), "15: error: comparisons cannot be chained [T0111]\n"
                                          "let r = 1 < 2 < 3\n"
                                          "              ^\n"
                                          "11: note: the first one is here\n"
                                          "let r = 1 < 2 < 3\n"
                                          "          ^\n"
                                          "help: join two comparisons by `and`\n");
  EXPECT_EQ(inBlock("let r = (1 < 2) == true"), "");
}

TEST(Recovery, ArgumentOrder) {
  EXPECT_EQ(inBlock("let u = f(over e, x + 1)"),
            "19: error: an argument by position after one by name [T0112]\n"
            "let u = f(over e, x + 1)\n"
            "                  ^~~~~\n"
            "11: note: this one has a name\n"
            "let u = f(over e, x + 1)\n"
            "          ^~~~~~\n"
            "help: move it before the named arguments, or name it\n");
}

TEST(Recovery, MixedBracket) {
  EXPECT_THAT(inBlock("let u = t[v: i, e]"),
              HasSubstr("17: error: a dimension without an index among indices [T0113]"));
}

TEST(Recovery, BadRename) {
  EXPECT_THAT(inBlock("let u = split(x + 1, head, a + b as c)"),
              HasSubstr("28: error: only dimensions can be renamed by `as` [T0114]"));
  EXPECT_THAT(inBlock("let u = t[v: i as w]"), HasSubstr("[T0114]"));
}

TEST(Recovery, ResultsOfExpression) {
  EXPECT_THAT(Parsed("fn f(x) -> y = x\n").errors(), HasSubstr("t.titan:1:12: error: a function"));
}

TEST(Recovery, UnknownEscape) {
  EXPECT_THAT(inBlock(R"(let u = f("a\q"))"), HasSubstr("13: error: unknown escape"));
}

// An open parenthesis ends where the next statement begins, and nothing else is said about it.
TEST(Recovery, UnclosedParenthesis) {
  EXPECT_EQ(inBlock("let z = (a +\nlet q = 1"), "9: error: `(` is never closed [T0102]\n"
                                                "let z = (a +\n"
                                                "        ^\n"
                                                "t:3:1: note: this starts a new statement\n"
                                                "let q = 1\n"
                                                "^~~\n"
                                                "help: add `)`\n");
}

// An open block ends where the next declaration begins.
TEST(Recovery, UnclosedBlockBeforeADeclaration) {
  Parsed p("block A(x) -> x {\n  x = 1\n\nblock B(x) -> x {\n  x = = 2\n}\n", "t");
  EXPECT_EQ(p.errors(), "t:1:17: error: `{` is never closed [T0102]\n"
                        "block A(x) -> x {\n"
                        "                ^\n"
                        "t:4:1: note: this starts a new declaration\n"
                        "block B(x) -> x {\n"
                        "^~~~~\n"
                        "t:2:7: note: its content ends here\n"
                        "  x = 1\n"
                        "      ^\n"
                        "help: add `}`\n"
                        "t:5:7: error: expected an expression after `=` [T0101]\n"
                        "  x = = 2\n"
                        "      ^\n");
}

// Indentation tells which of several blocks was left open.
TEST(Recovery, UnclosedInnerBlock) {
  Parsed p("block A(x) -> x {\n  repeat n {\n    x = 1\n}\n", "t");
  EXPECT_THAT(p.errors(), HasSubstr("t:2:12: error: `{` is never closed"));
  EXPECT_EQ(p.diags.errorCount(), 1u);
}

TEST(Recovery, MismatchedBrackets) {
  EXPECT_THAT(inBlock("let y = f(x[a)"), HasSubstr("12: error: `[` is never closed"));
  EXPECT_EQ(inBlock("let y = x + 1)"), "14: error: `)` closes nothing [T0103]\n"
                                       "let y = x + 1)\n"
                                       "             ^\n"
                                       "help: remove `)`\n");
}

// Wrong parameters do not hide what is wrong in the body.
TEST(Recovery, BodyAfterWrongParameters) {
  Parsed p("block A(x[], , l) -> x {\n  x = = 1\n}\n", "t");
  EXPECT_THAT(p.errors(), HasSubstr("t:1:14: error: "));
  EXPECT_THAT(p.errors(), HasSubstr("t:2:7: error: expected an expression"));
}

// Each of several mistakes is reported, in the order of the text, and what is right is kept.
TEST(Recovery, IndependentMistakes) {
  Parsed p("block A(x) -> x {\n  let a = \n  let b = 1 < 2 < 3\n  let c = 5\n  let d = §\n}\n"
           "parallel p {\n  tp = splits a\n  dp = 2\n}\n"
           "train t = M {\n  a = , b = 2\n  steps 3\n  c = 4\n}\n",
           "t");
  std::vector<uint32_t> lines;
  for (const Diagnostic &diagnostic : p.diags.all())
    lines.push_back(diagnostic.location.line);
  EXPECT_EQ(lines, (std::vector<uint32_t>{2, 3, 5, 8, 12, 13})) << p.errors();
  EXPECT_THAT(p.tree(), HasSubstr("Let c"));
  EXPECT_THAT(p.tree(), HasSubstr("Axis dp"));
  EXPECT_THAT(p.tree(), HasSubstr("Setting c"));
}

// The top level of a file contains only declarations.
TEST(Recovery, NoDeclaration) {
  Parsed p("let x = 1\nmodle M() { x = 1 }\nfn f(x) = x\n", "t");
  EXPECT_THAT(p.errors(), HasSubstr("t:1:1: error: expected a declaration"));
  EXPECT_THAT(p.errors(), HasSubstr("help: write `model` instead of `modle`"));
  EXPECT_EQ(p.diags.errorCount(), 2u);
  EXPECT_EQ(p.tree().substr(0, 5), "Fn f\n");
}

// A `{` that was forgotten is one mistake, however many lines follow it.
TEST(Recovery, MissingOpeningBrace) {
  Parsed p("model N = M\n  a = 1\n  b = 2\n}\nfn f(x) = x\n", "t");
  EXPECT_EQ(p.errors(),
            "t:2:3: error: expected a declaration (`import`, `model`, `block`, `fn`, "
            "`optimizer`, `schedule`, `parallel`, `train`, `config` or `weights`) [T0101]\n"
            "  a = 1\n"
            "  ^\n"
            "t:1:12: note: is `{` missing here?\n"
            "model N = M\n"
            "           ^\n");
  EXPECT_THAT(p.tree(), HasSubstr("Fn f"));
}

// A `}` too much ends a block early; the note shows it.
TEST(Recovery, ClosingBraceTooMuch) {
  Parsed p("train t = M {\n  a = b { c = 1 }}\n  d = 2\n  e = 3\n}\n", "t");
  EXPECT_THAT(p.errors(), HasSubstr("t:3:3: error: expected a declaration"));
  EXPECT_THAT(p.errors(), HasSubstr("t:2:18: note: the block before it ends here"));
  EXPECT_EQ(p.diags.errorCount(), 1u);
}

// A `}` in the middle of a statement is not taken for the end of its block.
TEST(Recovery, MisplacedClosingBrace) {
  EXPECT_EQ(inBlock("let q[batch, }, head] = x"),
            "14: error: `}` in the middle of a statement [T0103]\n"
            "let q[batch, }, head] = x\n"
            "             ^\n"
            "help: remove `}`\n");
  EXPECT_THAT(inBlock("dims heads} head\nlet y = 1"), HasSubstr("11: error: `}` in the middle"));
  EXPECT_EQ(inBlock("repeat n { x = 1 }"), "");
}

// A definition without a value does not swallow the next one.
TEST(Recovery, DefinitionAfterMissingValue) {
  Parsed p("train t = M {\n  clip =\n  steps = 2\n}\n", "t");
  EXPECT_EQ(p.errors(), "t:2:9: error: expected an expression or `{` after `=` [T0101]\n"
                        "  clip =\n"
                        "        ^\n");
  EXPECT_THAT(p.tree(), HasSubstr("Setting steps"));
}

// Between the lines of a call, what is missing is missing at the end of the first.
TEST(Recovery, MissingCommaAtTheEndOfALine) {
  EXPECT_THAT(inBlock("let y = f(a\n          b)"),
              HasSubstr("12: error: expected `,` or `)` after `a` [T0101]"));
}

// `=` in a condition.
TEST(Recovery, AssignmentInACondition) {
  EXPECT_THAT(inBlock("if a = b { x = 1 }"), HasSubstr("help: write `==` instead of `=`"));
}

// A comma too much before `stores` is a likely error, because the lists around it have commas.
TEST(Recovery, CommaBeforeStores) {
  EXPECT_THAT(Parsed("parallel p {\n  a = 2 splits x, stores params\n}\n").errors(),
              HasSubstr("help: remove `,`"));
}

} // namespace
} // namespace titan::syntax
