// Scalar functions: values and text.

#include "dialects/registration/RegisterAll.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/Kernels/ScalarText.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

class ScalarModels : public ::testing::Test {
protected:
  ScalarModels() {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.allowUnregisteredDialects();
  }

  /// Parses `body` after definitions of %x, %y (f32), %i (i64), %b (i1), %d (f64); returns its last
  /// operation.
  ScalarOpInterface parse(llvm::StringRef body) {
    std::string text = R"(
      %x = "test.value"() : () -> !titan.tensor<f32[]>
      %y = "test.value"() : () -> !titan.tensor<f32[]>
      %i = "test.value"() : () -> !titan.tensor<i64[]>
      %b = "test.value"() : () -> !titan.tensor<i1[]>
      %d = "test.value"() : () -> !titan.tensor<f64[]>
    )" + body.str();
    module = parseSourceString<ModuleOp>(text, &context);
    return module ? dyn_cast<ScalarOpInterface>(module->getBody()->back()) : nullptr;
  }

  double evaluate(ScalarOpInterface op, std::vector<double> in, unsigned index = 0) {
    std::vector<double> out(op->getNumResults());
    op.evaluateElement(in, out);
    return out[index];
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

// The value and the text of every unary function.
TEST_F(ScalarModels, Unary) {
  struct Case {
    const char *op;
    double in, out;
    const char *text;
  };
  for (Case c : {Case{"neg", 2, -2, "(-a)"}, Case{"exp", 0, 1, "tm::exp(a)"},
                 Case{"log", 1, 0, "tm::log(a)"}, Case{"sqrt", 9, 3, "tm::sqrt(a)"},
                 Case{"rsqrt", 16, 0.25, "tm::rsqrt(a)"}, Case{"tanh", 0, 0, "tm::tanh(a)"},
                 Case{"sigmoid", 0, 0.5, "tm::sigmoid(a)"}, Case{"erf", 0, 0, "tm::erf(a)"},
                 Case{"sin", 0, 0, "tm::sin(a)"}, Case{"cos", 0, 1, "tm::cos(a)"},
                 Case{"floor", -1.5, -2, "tm::floor(a)"}}) {
    auto op = parse(std::string("%r = titan.") + c.op +
                    " %x : !titan.tensor<f32[]> -> !titan.tensor<f32[]>");
    ASSERT_TRUE(op) << c.op;
    EXPECT_EQ(evaluate(op, {c.in}), c.out) << c.op;
    EXPECT_EQ(op.getElementExpression({"a"}, 0, "float"), c.text);
  }
}

// The value and the text of every binary function.
TEST_F(ScalarModels, Binary) {
  struct Case {
    const char *op;
    double out;
    const char *text;
  };
  for (Case c : {Case{"add", 11, "(a + b)"}, Case{"sub", 5, "(a - b)"}, Case{"mul", 24, "(a * b)"},
                 Case{"div", 8.0 / 3.0, "(a / b)"}, Case{"maximum", 8, "tm::max(a, b)"},
                 Case{"minimum", 3, "tm::min(a, b)"}}) {
    auto op = parse(std::string("%r = titan.") + c.op +
                    " %x, %y : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> "
                    "!titan.tensor<f32[]>");
    ASSERT_TRUE(op) << c.op;
    EXPECT_EQ(evaluate(op, {8, 3}), c.out) << c.op;
    EXPECT_EQ(op.getElementExpression({"a", "b"}, 0, "float"), c.text);
  }
}

// A maximum propagates NaN from either side.
TEST_F(ScalarModels, MaximumKeepsNaN) {
  auto op = parse("%r = titan.maximum %x, %y : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> "
                  "!titan.tensor<f32[]>");
  ASSERT_TRUE(op);
  EXPECT_TRUE(std::isnan(evaluate(op, {NAN, 1})));
  EXPECT_TRUE(std::isnan(evaluate(op, {1, NAN})));
}

// Integer division truncates.
TEST_F(ScalarModels, IntegerDivision) {
  auto op = parse("%r = titan.div %i, %i : (!titan.tensor<i64[]>, !titan.tensor<i64[]>) -> "
                  "!titan.tensor<i64[]>");
  ASSERT_TRUE(op);
  EXPECT_EQ(evaluate(op, {-7, 2}), -3);
}

// All six comparisons.
TEST_F(ScalarModels, Compare) {
  struct Case {
    const char *predicate;
    bool less, equal;
    const char *text;
  };
  for (Case c : {Case{"eq", false, true, "(a == b)"}, Case{"ne", true, false, "(a != b)"},
                 Case{"lt", true, false, "(a < b)"}, Case{"le", true, true, "(a <= b)"},
                 Case{"gt", false, false, "(a > b)"}, Case{"ge", false, true, "(a >= b)"}}) {
    auto op = parse(std::string("%r = titan.compare ") + c.predicate +
                    ", %x, %y : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> "
                    "!titan.tensor<i1[]>");
    ASSERT_TRUE(op) << c.predicate;
    EXPECT_EQ(evaluate(op, {1, 2}), c.less) << c.predicate;
    EXPECT_EQ(evaluate(op, {2, 2}), c.equal) << c.predicate;
    EXPECT_EQ(op.getElementExpression({"a", "b"}, 0, "float"), c.text);
  }
}

// A cast to an integer truncates, a cast to a boolean compares with zero; the text names the
// target.
TEST_F(ScalarModels, Cast) {
  auto op = parse("%r = titan.cast %x : !titan.tensor<f32[]> -> !titan.tensor<i64[]>");
  ASSERT_TRUE(op);
  EXPECT_EQ(evaluate(op, {-2.5}), -2);
  EXPECT_EQ(op.getElementExpression({"a"}, 0, "float"), "int64_t(a)");
  op = parse("%r = titan.cast %x : !titan.tensor<f32[]> -> !titan.tensor<i1[]>");
  EXPECT_EQ(evaluate(op, {-2.5}), 1);
  EXPECT_EQ(op.getElementExpression({"a"}, 0, "float"), "(a != 0)");
  op = parse("%r = titan.cast %b : !titan.tensor<i1[]> -> !titan.tensor<f32[]>");
  EXPECT_EQ(op.getElementExpression({"a"}, 0, "float"), "float(a)");
  op = parse("%r = titan.cast %d : !titan.tensor<f64[]> -> !titan.tensor<f32[]>");
  EXPECT_EQ(op.getElementExpression({"a"}, 0, "double"), "float(a)"); // not the operand's type
}

// The text of a constant reads back exactly, infinities included.
TEST_F(ScalarModels, Constant) {
  auto op = parse("%r = titan.constant 1.0e-05 : !titan.tensor<f32[]>");
  ASSERT_TRUE(op);
  EXPECT_EQ(evaluate(op, {}), 1e-5);
  EXPECT_EQ(op.getElementExpression({}, 0, "float"), "float(1e-05)");
  op = parse("%r = titan.constant 0xFFF0000000000000 : !titan.tensor<f32[]>");
  EXPECT_EQ(op.getElementExpression({}, 0, "float"), "float(-INFINITY)");
  op = parse("%r = titan.constant 3 : !titan.tensor<i64[]>");
  EXPECT_EQ(op.getElementExpression({}, 0, "float"), "int64_t(3)");
  op = parse("%r = titan.constant 9007199254740993 : !titan.tensor<i64[]>");
  EXPECT_EQ(op.getElementExpression({}, 0, "float"), "int64_t(9007199254740993)");
  op = parse("%r = titan.constant 1 : !titan.tensor<i1[]>");
  EXPECT_EQ(op.getElementExpression({}, 0, "float"), "true");
}

// select, expand and iota return one of their inputs.
TEST_F(ScalarModels, PassThrough) {
  auto op = parse("%r = titan.select %b, %x, %y : (!titan.tensor<i1[]>, !titan.tensor<f32[]>, "
                  "!titan.tensor<f32[]>) -> !titan.tensor<f32[]>");
  ASSERT_TRUE(op);
  EXPECT_EQ(evaluate(op, {1, 5, 6}), 5);
  EXPECT_EQ(evaluate(op, {0, 5, 6}), 6);
  EXPECT_EQ(op.getElementExpression({"c", "a", "b"}, 0, "float"), "(c ? a : b)");
  op = parse("%r = titan.expand %x : !titan.tensor<f32[]> -> !titan.tensor<f32[seq = 2]>");
  EXPECT_EQ(op.getElementExpression({"a"}, 0, "float"), "a");
  op = parse("%r = titan.iota : !titan.tensor<i64[seq = 2]>");
  EXPECT_EQ(op.getElementExpression({"i"}, 0, "float"), "i");
}

// A power is computed in double and rounded once.
TEST_F(ScalarModels, Pow) {
  auto op = parse("%r = titan.pow %x, %x : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> "
                  "!titan.tensor<f32[]>");
  ASSERT_TRUE(op);
  EXPECT_EQ(evaluate(op, {2.0, 0.5}, 0), std::sqrt(2.0));
  EXPECT_EQ(op.getElementExpression({"x", "y"}, 0, "float"), "float(tm::pow(x, y))");
}

// Literals are the shortest decimals that read back, in floating-point notation.
TEST(ScalarText, Literals) {
  EXPECT_EQ(getLiteral(1), "1.0");
  EXPECT_EQ(getLiteral(0.1), "0.1");
  EXPECT_EQ(getLiteral(-0.0), "-0.0");
  EXPECT_EQ(getLiteral(1e300), "1e+300");
  EXPECT_EQ(std::stod(getLiteral(1.0 / 3.0)), 1.0 / 3.0);
}

} // namespace
