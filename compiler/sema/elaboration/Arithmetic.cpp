#include "compiler/sema/elaboration/Elaboration.h"
#include "compiler/sema/elaboration/ExactInteger.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>
#include <cmath>

namespace titan::sema {

using namespace syntax;

namespace {

const char *elementwiseWord(BinaryOp op) {
  switch (op) {
  case BinaryOp::Add:
    return "add";
  case BinaryOp::Sub:
    return "sub";
  case BinaryOp::Mul:
    return "mul";
  case BinaryOp::Div:
    return "div";
  default:
    return "";
  }
}

const char *compareWord(BinaryOp op) {
  switch (op) {
  case BinaryOp::Eq:
    return "eq";
  case BinaryOp::Ne:
    return "ne";
  case BinaryOp::Lt:
    return "lt";
  case BinaryOp::Le:
    return "le";
  case BinaryOp::Gt:
    return "gt";
  default:
    return "ge";
  }
}

bool holds(BinaryOp op, double a, double b) {
  switch (op) {
  case BinaryOp::Eq:
    return a == b;
  case BinaryOp::Ne:
    return a != b;
  case BinaryOp::Lt:
    return a < b;
  case BinaryOp::Le:
    return a <= b;
  case BinaryOp::Gt:
    return a > b;
  default:
    return a >= b;
  }
}

double realResult(BinaryOp op, double a, double b) {
  switch (op) {
  case BinaryOp::Add:
    return a + b;
  case BinaryOp::Sub:
    return a - b;
  case BinaryOp::Mul:
    return a * b;
  case BinaryOp::Div:
    return a / b;
  default:
    return a - std::floor(a / b) * b;
  }
}

} // namespace

Value mapped(const Value &list, const std::function<Value(const Value &)> &each) {
  std::vector<Value> results;
  for (const Value &element : list.elements) {
    results.push_back(each(element));
    if (results.back().isError()) // other elements would give the same report
      return {};
  }
  return Value::ofList(std::move(results));
}

std::optional<Value> Arithmetic::zipped(const Value &lhs, const Value &rhs, Location at,
                                        const Combine &each) {
  if (lhs.isNumberList() && rhs.isNumber())
    return mapped(lhs, [&](const Value &element) { return each(element, rhs); });
  if (lhs.isNumber() && rhs.isNumberList())
    return mapped(rhs, [&](const Value &element) { return each(lhs, element); });
  if (!lhs.isNumberList() || !rhs.isNumberList())
    return std::nullopt;
  if (lhs.elements.size() != rhs.elements.size()) {
    report(Code::BadOperands, at,
           "lists combine element by element, but these have " +
               std::to_string(lhs.elements.size()) + " and " + std::to_string(rhs.elements.size()));
    return Value();
  }
  size_t next = 0;
  return mapped(lhs, [&](const Value &element) { return each(element, rhs.elements[next++]); });
}

Value Arithmetic::finite(double number, Location at) {
  if (std::isfinite(number))
    return Value::ofFloat(number);
  report(Code::BadOperands, at, "the result is not a finite number");
  return {};
}

/// Operators on numbers and lists of numbers.
Value Arithmetic::ofNumbers(const BinaryExpr &expr, const Value &lhs, const Value &rhs) {
  if (lhs.isNumber() && rhs.isNumber()) {
    bool divides = expr.op == BinaryOp::Div || expr.op == BinaryOp::Mod;
    if (divides && rhs.number() == 0) {
      report(Code::DivisionByZero, expr.opLoc, "division by zero");
      return {};
    }
    if (lhs.isInt() && rhs.isInt())
      if (std::optional<int64_t> exact = exactInteger(expr.op, lhs.integer, rhs.integer))
        return Value::ofInt(*exact);
    return finite(realResult(expr.op, lhs.number(), rhs.number()), expr.opLoc);
  }
  auto each = [&](const Value &a, const Value &b) { return ofNumbers(expr, a, b); };
  if (std::optional<Value> list = zipped(lhs, rhs, expr.opLoc, each))
    return *list;
  report(Code::BadOperands, expr.opLoc,
         std::string("`") + syntax::spelling(expr.op) + "` of " + lhs.describe() + " and " +
             rhs.describe());
  return {};
}

Value Arithmetic::arithmetic(const BinaryExpr &expr, const Value &lhs, const Value &rhs) {
  if (!lhs.isTensor() && !rhs.isTensor())
    return ofNumbers(expr, lhs, rhs);
  const bool divides = expr.op == BinaryOp::Div || expr.op == BinaryOp::Mod;
  if (divides && rhs.isNumber() && rhs.number() == 0) {
    report(Code::DivisionByZero, expr.opLoc, "division by zero");
    return {};
  }
  if (expr.op == BinaryOp::Mod)
    return remainder(expr, lhs, rhs);
  return elaboration.tensors.elementwise(elementwiseWord(expr.op), lhs, rhs, expr.opLoc,
                                         expr.lhs->loc, expr.rhs->loc, &expr);
}

/// `a - floor(a / b) * b`, which has the sign of `b`, as for numbers. The quotient of integers is
/// rounded toward 0, so a remainder of the other sign is one `b` too small.
Value Arithmetic::remainder(const BinaryExpr &expr, const Value &lhs, const Value &rhs) {
  auto apply = [&](const char *word, const Value &a, const Value &b) {
    return a.isError() || b.isError()
               ? Value()
               : elaboration.tensors.elementwise(word, a, b, expr.opLoc, expr.lhs->loc,
                                                 expr.rhs->loc, &expr);
  };
  Value quotient = apply("div", lhs, rhs);
  if (quotient.isError())
    return {};
  const bool isInteger = getTensorType(quotient).dtype == DType::I64;
  if (!isInteger)
    quotient = elaboration.tensors.unary("floor", quotient, expr.opLoc);
  Value rest = apply("sub", lhs, apply("mul", quotient, rhs));
  if (!isInteger || rest.isError())
    return rest;
  Value zero = Value::ofInt(0);
  Value differs = apply("lt", apply("mul", rest, rhs), zero);
  Value moved = apply("add", rest, rhs);
  if (differs.isError() || moved.isError())
    return {};
  Op op(OpKind::Elementwise, {differs.tensor, moved.tensor, rest.tensor});
  op.word = "select";
  return emit(std::move(op), getTensorType(rest), expr.opLoc);
}

Value Arithmetic::power(const BinaryExpr &expr, const Value &lhs, const Value &rhs) {
  if (lhs.isNumber() && rhs.isNumber()) {
    double result = std::pow(lhs.number(), rhs.number());
    bool exact = lhs.isInt() && rhs.isInt() && rhs.integer >= 0 && std::abs(result) < 0x1p53;
    return exact ? Value::ofInt(static_cast<int64_t>(result)) : finite(result, expr.opLoc);
  }
  auto each = [&](const Value &a, const Value &b) { return power(expr, a, b); };
  if (std::optional<Value> list = zipped(lhs, rhs, expr.opLoc, each))
    return *list;
  if ((lhs.isNumber() || lhs.isTensor()) && rhs.isTensor() && isFloat(getTensorType(rhs).dtype))
    return elaboration.tensors.elementwise("pow", lhs, rhs, expr.opLoc, expr.lhs->loc,
                                           expr.rhs->loc);
  if (!expectTensor(lhs, expr.lhs->loc, "the base of `**`"))
    return {};
  if (!rhs.isInt() || rhs.integer < 1 || rhs.integer > 8) {
    report(Code::BadOperands, expr.rhs->loc,
           "a tensor can be raised to an integer from 1 to 8, not to " + rhs.print())
        .help("for other powers write `exp(y * log(x))`, or `sqrt(x)`");
    return {};
  }
  Value result = lhs;
  for (int64_t i = 1; i < rhs.integer; ++i)
    result = elaboration.tensors.elementwise("mul", result, lhs, expr.opLoc, expr.lhs->loc,
                                             expr.lhs->loc);
  return result;
}

/// `decay == "cosine"`: compares the index of the word.
Value Arithmetic::compareChoice(const BinaryExpr &expr, const Value &choice, const Value &word) {
  auto found = std::find(choice.elements.begin(), choice.elements.end(), word);
  const bool isComparison = expr.op == BinaryOp::Eq || expr.op == BinaryOp::Ne;
  if (isComparison && found != choice.elements.end())
    return elaboration.tensors.elementwise(compareWord(expr.op), Value::ofTensor(choice.tensor),
                                           Value::ofInt(found - choice.elements.begin()),
                                           expr.opLoc, expr.lhs->loc, expr.rhs->loc);
  std::vector<std::string> words;
  for (const Value &one : choice.elements)
    words.push_back(one.print());
  report(Code::BadOperands, expr.opLoc,
         "this option can only be compared by `==` or `!=` with its words")
      .help("the words are " + listNames(words));
  return {};
}

Value Arithmetic::compare(const BinaryExpr &expr, const Value &lhs, const Value &rhs) {
  if (lhs.kind == Value::Kind::Choice)
    return compareChoice(expr, lhs, rhs);
  if (rhs.kind == Value::Kind::Choice)
    return compareChoice(expr, rhs, lhs);
  if (lhs.isNumber() && rhs.isNumber())
    return Value::ofBool(holds(expr.op, lhs.number(), rhs.number()));
  const bool asksForEquality = expr.op == BinaryOp::Eq || expr.op == BinaryOp::Ne;
  if (asksForEquality && (lhs.kind == Value::Kind::None || rhs.kind == Value::Kind::None))
    return Value::ofBool((lhs == rhs) == (expr.op == BinaryOp::Eq)); // an argument may be a tensor
  if (lhs.isTensor() || rhs.isTensor())
    return elaboration.tensors.elementwise(compareWord(expr.op), lhs, rhs, expr.opLoc,
                                           expr.lhs->loc, expr.rhs->loc);
  if (asksForEquality)
    return Value::ofBool((lhs == rhs) == (expr.op == BinaryOp::Eq));
  report(Code::BadOperands, expr.opLoc,
         std::string("`") + syntax::spelling(expr.op) + "` of " + lhs.describe() + " and " +
             rhs.describe());
  return {};
}

bool Arithmetic::isBoolean(const BinaryExpr &expr, const Value &value, Location at) {
  return expectBoolean(value, at, syntax::spelling(expr.op));
}

bool Arithmetic::expectBoolean(const Value &value, Location at, const char *word) {
  if (!value.isTensor() || getTensorType(value).dtype == DType::Bool)
    return value.isTensor();
  report(Code::DTypeMismatch, at,
         std::string("`") + word + "` works on booleans, but this is " +
             spelling(getTensorType(value).dtype))
      .help("compare it: `x != 0`");
  return false;
}

/// `value == (value != value)`: the right side is false everywhere.
Value Arithmetic::logicalNot(const Value &value, Location at, Location valueLoc) {
  if (!expectBoolean(value, valueLoc, "not"))
    return {};
  Value none = elaboration.tensors.elementwise("ne", value, value, at, valueLoc, valueLoc);
  return none.isError() ? none
                        : elaboration.tensors.elementwise("eq", value, none, at, valueLoc, at);
}

/// Elementwise `and` and `or`.
Value Arithmetic::combineBooleans(const BinaryExpr &expr, const Value &lhs, const Value &rhs) {
  if (rhs.isError() || !isBoolean(expr, lhs, expr.lhs->loc))
    return {};
  bool isAnd = expr.op == BinaryOp::And;
  if (rhs.kind == Value::Kind::Bool && rhs.boolean() == isAnd)
    return lhs;
  if (rhs.kind == Value::Kind::Bool) // `x and false` or `x or true`: all elements are equal
    return elaboration.tensors.elementwise(isAnd ? "ne" : "eq", lhs, lhs, expr.opLoc, expr.lhs->loc,
                                           expr.lhs->loc);
  if (!expectTensor(rhs, expr.rhs->loc, "the other operand of a tensor") ||
      !isBoolean(expr, rhs, expr.rhs->loc))
    return {};
  return elaboration.tensors.elementwise(isAnd ? "mul" : "add", lhs, rhs, expr.opLoc, expr.lhs->loc,
                                         expr.rhs->loc, &expr);
}

Value Arithmetic::contraction(const BinaryExpr &expr, const Value &lhs, const Value &rhs,
                              Expected expected) {
  if (!expectTensor(lhs, expr.lhs->loc, "the left side of `@`") ||
      !expectTensor(rhs, expr.rhs->loc, "the right side of `@`"))
    return {};
  const TensorType left = getTensorType(lhs), right = getTensorType(rhs);
  if (!expected && elaboration.statements.declarationFailed) // the declaration is reported
    return {};
  if (!expected) {
    Diagnostic &diag = report(Code::ContractionUndeclared, expr.opLoc,
                              "`@` needs a declared result, which states the dimensions to sum");
    elaboration.reports.noteOperand(diag, *expr.lhs, left.dims);
    elaboration.reports.noteOperand(diag, *expr.rhs, right.dims);
    diag.help("state the dimensions: `(a @ b)" +
              print(left.dims.unite(right.dims).without(left.dims.intersect(right.dims))) +
              "`, or in `let name[...] = ...`");
    return {};
  }
  if (!mayJoin(left.dtype, right.dtype)) {
    report(Code::DTypeMismatch, expr.opLoc,
           std::string("`@` of ") + spelling(left.dtype) + " and " + spelling(right.dtype));
    return {};
  }
  if (left.dtype == DType::Bool) {
    report(Code::DTypeMismatch, expr.opLoc, "`@` sums products of numbers, not of booleans")
        .help("convert them to numbers: `float(x)`, or `int(x)`");
    return {};
  }
  Contraction typed = contract(left.dims, right.dims, *expected);
  if (!typed.valid()) {
    DimSet lost = typed.lostLeft.unite(typed.lostRight);
    Diagnostic &diag = report(
        Code::ContractionLosesDimension, expr.opLoc,
        quote(lost) + (lost.size() == 1 ? " would be lost: it is" : " would be lost: they are") +
            " in only one operand and not in the declared result " + print(*expected));
    elaboration.reports.noteOperand(diag, *expr.lhs, left.dims);
    elaboration.reports.noteOperand(diag, *expr.rhs, right.dims);
    diag.help("a contraction sums only dimensions of both operands; add " + quote(lost) +
              " to the declared result, or sum it first with `sum(x, over " +
              model.dims[lost[0]].name + ")`");
    return {};
  }
  return elaboration.inputDropout.contract(lhs, rhs, {left.dtype, typed.result}, expr.loc);
}

} // namespace titan::sema
