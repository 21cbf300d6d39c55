// The trees of parsed expressions.
#include "tests/unit/compiler/syntax/Support.h"

#include <gtest/gtest.h>

namespace titan::syntax {
namespace {

// Contraction ranks with multiplication, so `x + a @ wo` contracts the product alone.
TEST(Expr, ContractionBindsTighterThanAddition) {
  EXPECT_EQ(parseAndDump("x + a @ wo"), "(Binary + (Name x) (Binary @ (Name a) (Name wo)))");
}

// Operators of one rank group to the left.
TEST(Expr, SubtractionGroupsToTheLeft) {
  EXPECT_EQ(parseAndDump("a - b - c"), "(Binary - (Binary - (Name a) (Name b)) (Name c))");
}

// `**` groups to the right and binds tighter than the minus before it, not than the one after it.
TEST(Expr, PowerGroupsToTheRight) {
  EXPECT_EQ(parseAndDump("-a ** b ** -2"),
            "(Unary - (Binary ** (Name a) (Binary ** (Name b) (Unary - (Int 2)))))");
}

// `not` takes a whole comparison, `and` before `or`.
TEST(Expr, LogicRanksBelowComparison) {
  EXPECT_EQ(parseAndDump("not a == b and c or d"),
            "(Binary or (Binary and (Unary not (Binary == (Name a) "
            "(Name b))) (Name c)) (Name d))");
}

// The branches of a conditional reach as far as they can.
TEST(Expr, ConditionalIsLoosest) {
  EXPECT_EQ(parseAndDump("if l % 2 == 0 then 4096 else n + 1"),
            "(If (Binary == (Binary % (Name l) (Int 2)) (Int 0)) (Int 4096) (Binary + (Name n) "
            "(Int 1)))");
}

// Grouping parentheses leave no node; one comma makes a tuple.
TEST(Expr, ParenthesesAndTuples) {
  EXPECT_EQ(parseAndDump("(a + b) * c"), "(Binary * (Binary + (Name a) (Name b)) (Name c))");
  EXPECT_EQ(parseAndDump("(a,)"), "(Tuple (Name a))");
  EXPECT_EQ(parseAndDump("()"), "(Tuple)");
  EXPECT_EQ(parseAndDump("[0.9, 1_000, true, none]"),
            "(List (Float 0.9) (Int 1000) (Bool true) (None))");
}

// A bracket of dimensions alone states the value's dimensions.
TEST(Expr, BracketOfDimensionsIsAType) {
  EXPECT_EQ(parseAndDump("(h @ w1)[batch, seq, ffn]"),
            "(Typed [batch, seq, ffn] (Binary @ (Name h) (Name w1)))");
  EXPECT_EQ(parseAndDump("x[batch, seq as keys]"), "(Typed [batch, seq as keys] (Name x))");
  EXPECT_EQ(parseAndDump("(a @ a)[]"), "(Typed [] (Binary @ (Name a) (Name a)))");
}

// A bracket with indices, ranges or nothing but renames keeps the other dimensions.
TEST(Expr, BracketThatIndexes) {
  EXPECT_EQ(parseAndDump("table[vocab: tokens]"),
            "(Index (Name table) (take vocab (Name tokens)))");
  EXPECT_EQ(parseAndDump("x[seq: 0..n as prefix]"),
            "(Index (Name x) (slice seq as prefix (from (Int 0)) (to (Name n))))");
  EXPECT_EQ(parseAndDump("x[seq: ..n]"), "(Index (Name x) (slice seq (to (Name n))))");
  EXPECT_EQ(parseAndDump("x[seq: 2..]"), "(Index (Name x) (slice seq (from (Int 2))))");
  EXPECT_EQ(parseAndDump("k[seq as keys]"), "(Index (Name k) (rename seq as keys))");
  EXPECT_EQ(parseAndDump("x[a: 1][b: i]"),
            "(Index (Index (Name x) (take a (Int 1))) (take b (Name i)))");
}

// Each kind of argument.
TEST(Expr, Arguments) {
  EXPECT_EQ(parseAndDump("attention(q, k, along seq, mask = causal)"),
            "(Call attention (Name q) (Name k) (along seq) (mask = (Name causal)))");
  EXPECT_EQ(parseAndDump("mean(x, over batch, seq)"), "(Call mean (Name x) (over (batch, seq)))");
  EXPECT_EQ(parseAndDump("mean(x, over (batch, seq), eps = 1)"),
            "(Call mean (Name x) (over (batch, seq)) (eps = (Int 1)))");
  EXPECT_EQ(parseAndDump("f(x, over a, b as c)"), "(Call f (Name x) (over (a, b) as c))");
  EXPECT_EQ(parseAndDump("f(x, over a, b, along c, d)"),
            "(Call f (Name x) (over (a, b)) (along (c, d)))");
  EXPECT_EQ(parseAndDump("window(x, over h as (h, kh))"),
            "(Call window (Name x) (over h as (h, kh)))");
}

// Operations that make dimensions name them by `as`.
TEST(Expr, ArgumentsThatBindDimensions) {
  EXPECT_EQ(parseAndDump("split(x, head as (pair, two))"),
            "(Call split (Name x) (dims head as (pair, two)))");
  EXPECT_EQ(parseAndDump("merge(x, (heads, head) as embed)"),
            "(Call merge (Name x) (dims (heads, head) as embed))");
  EXPECT_EQ(parseAndDump("concat(a along nope, b + 1 along rope as qk)"),
            "(Call concat (along nope: (Name a)) (along rope as qk: (Binary + (Name b) (Int 1))))");
}

// Names have parts; a keyword may follow a dot and be an argument's name.
TEST(Expr, Names) {
  EXPECT_EQ(parseAndDump("std.in.model"), "(Name std.in.model)");
  EXPECT_EQ(parseAndDump("f(over = 3)"), "(Call f (over = (Int 3)))");
}

// Strings resolve their escapes.
TEST(Expr, Strings) {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  ExprPtr expr = parseExpr(sources, sources.addBuffer("e", R"("a\"b\\c\n\td é")"), diags);
  ASSERT_TRUE(expr && expr->as<StringExpr>());
  EXPECT_EQ(expr->as<StringExpr>()->value, "a\"b\\c\n\td é");
}

// Text after a complete expression is an error, as `--set a=1 2` requires.
TEST(Expr, NothingMayFollow) {
  EXPECT_EQ(parseAndDump("1 2"),
            "e:1:3: error: expected an operator or a new line after `1` [T0101]\n1 2\n  ^\n");
  EXPECT_NE(parseAndDump("").find("expected an expression"), std::string::npos) << parseAndDump("");
}

} // namespace
} // namespace titan::syntax
