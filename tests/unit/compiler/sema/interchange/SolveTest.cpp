// Values of params that follow from the value of an expression, as in config.json.
#include "compiler/sema/interchange/Solve.h"
#include "compiler/sema/elaboration/Elaborator.h"

#include <gtest/gtest.h>

namespace titan::sema {
namespace {

using Found = Solution::Kind;

/// Solves `text = value` without a library.
class SolveTest : public testing::Test {
protected:
  Solution solveText(const std::string &text, const Value &value, const NamedValues &known,
                     const std::set<std::string> &unknown) {
    syntax::ExprPtr expr = parse(text);
    Evaluate evaluate = [&](const syntax::Expr &term, const NamedValues &names) {
      DiagnosticEngine quiet(sources);
      Value found = evalConstant(term, names, library, unit, quiet);
      return quiet.hasErrors() ? Value() : found;
    };
    return solve(*expr, value, known, unknown, evaluate);
  }

  /// The solution for `x`; an Error value if there is none.
  Value solveForX(const std::string &text, const Value &value, const NamedValues &known = {}) {
    Solution found = solveText(text, value, known, {"x"});
    return found.kind == Found::Solved && found.name == "x" ? found.value : Value();
  }

  syntax::ExprPtr parse(const std::string &text) {
    syntax::ExprPtr expr = syntax::parseExpr(sources, sources.addBuffer("e", text), diags);
    EXPECT_FALSE(diags.hasErrors()) << text;
    return expr;
  }

  static Value number(int64_t value) { return Value::ofInt(value); }

  SourceManager sources;
  DiagnosticEngine diags{sources};
  Library library{sources, diags, {}};
  Unit unit;
};

// Each operation is inverted in both operands.
TEST_F(SolveTest, InvertsArithmetic) {
  EXPECT_EQ(solveForX("x", number(7)), number(7));
  EXPECT_EQ(solveForX("x + 3", number(7)), number(4));
  EXPECT_EQ(solveForX("3 + x", number(7)), number(4));
  EXPECT_EQ(solveForX("x - 3", number(7)), number(10));
  EXPECT_EQ(solveForX("3 - x", number(7)), number(-4));
  EXPECT_EQ(solveForX("x * 8", number(32)), number(4));
  EXPECT_EQ(solveForX("8 * x", number(32)), number(4));
  EXPECT_EQ(solveForX("x / 8", number(4)), number(32));
  EXPECT_EQ(solveForX("32 / x", number(4)), number(8));
  EXPECT_EQ(solveForX("-x", number(4)), number(-4));
  EXPECT_EQ(solveForX("heads * x + 1", number(25), {{"heads", number(3)}}), number(8));
}

// Integers have no rounded solutions, and none beyond 64 bits.
TEST_F(SolveTest, SolvesIntegersExactly) {
  EXPECT_TRUE(solveForX("4 * x", number(6)).isError());
  EXPECT_TRUE(solveForX("0 * x", number(6)).isError());
  EXPECT_TRUE(solveForX("x - 1", number(INT64_MAX)).isError());
  EXPECT_TRUE(solveForX("x / 4", number(INT64_MAX)).isError());
  EXPECT_TRUE(solveForX("7 / x", number(2)).isError());
  EXPECT_TRUE(solveForX("-x", number(INT64_MIN)).isError());
  EXPECT_EQ(solveForX("4 * x", Value::ofFloat(6)), Value::ofFloat(1.5));
}

// Booleans and choices: the branch tells the condition, and a known condition selects the branch.
TEST_F(SolveTest, SolvesChoices) {
  const char *kind = "if x == 1 then \"default\" else \"llama3\"";
  EXPECT_EQ(solveForX(kind, Value::ofString("default")), number(1));
  EXPECT_EQ(solveText(kind, Value::ofString("llama3"), {}, {"x"}).kind, Found::Open);
  EXPECT_EQ(solveText(kind, Value::ofString("yarn"), {}, {"x"}).kind, Found::Fails);
  EXPECT_EQ(solveForX("not x", Value::ofBool(true)), Value::ofBool(false));
  EXPECT_EQ(solveForX("if tied then x else 0", number(3), {{"tied", Value::ofBool(true)}}),
            number(3));
  EXPECT_EQ(
      solveText("if tied then x else 0", number(3), {{"tied", Value::ofBool(false)}}, {"x"}).kind,
      Found::Fails);
}

// Without unknown names the value is compared, and with several nothing is known yet.
TEST_F(SolveTest, ComparesAndWaits) {
  NamedValues known = {{"heads", number(4)}};
  EXPECT_EQ(solveText("heads * 2", number(8), known, {}).kind, Found::Holds);
  EXPECT_EQ(solveText("heads * 2", number(9), known, {}).kind, Found::Fails);
  EXPECT_EQ(solveText("\"silu\"", Value::ofString("gelu"), {}, {}).kind, Found::Fails);
  EXPECT_EQ(solveText("x * y", number(8), {}, {"x", "y"}).kind, Found::Open);
  EXPECT_EQ(solveText("x * x", number(9), {}, {"x"}).kind, Found::Open);
}

// Values of other types than the operation takes have no solution.
TEST_F(SolveTest, RefusesOtherTypes) {
  EXPECT_TRUE(solveForX("x * 2", Value::ofString("8")).isError());
  EXPECT_TRUE(solveForX("x + 2", Value::none()).isError());
  EXPECT_TRUE(solveForX("not x", number(1)).isError());
  EXPECT_TRUE(solveForX("x == 1", number(1)).isError());
}

// A known branch that has the value tells the condition before the other branch is known.
TEST_F(SolveTest, SolvesConditionsFirst) {
  const char *rank = "if x then y else none";
  Solution with = solveText(rank, number(8), {}, {"x", "y"});
  EXPECT_EQ(with.name, "x");
  EXPECT_EQ(with.value, Value::ofBool(true));
  EXPECT_EQ(solveText(rank, Value::none(), {}, {"x", "y"}).value, Value::ofBool(false));
  EXPECT_EQ(solveText(rank, number(8), {{"x", Value::ofBool(true)}}, {"y"}).value, number(8));
  EXPECT_EQ(solveText(rank, Value::none(), {{"x", Value::ofBool(false)}}, {"y"}).kind,
            Found::Holds);
}

// solvedName() finds the name for which solve() solves, without values.
TEST_F(SolveTest, SolvedName) {
  for (const char *text :
       {"x", "-x", "heads * x", "1 / x", "if x == 1 then 2 else 3", "if x then y else none"})
    EXPECT_EQ(solvedName(*parse(text), {"x", "y"}), "x") << text;
  for (const char *text : {"heads", "x * x", "x ** 2", "x < 2", "sqrt(x)", "[x]", "x * y"})
    EXPECT_EQ(solvedName(*parse(text), {"x", "y"}), std::nullopt) << text;
}

} // namespace
} // namespace titan::sema
