// Arithmetic on compile-time numbers, and elementwise operators on tensors.
#include "compiler/sema/Elaborator.h"

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

/// Nothing on overflow, or where the result is not an integer.
std::optional<int64_t> integerResult(BinaryOp op, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (op) {
  case BinaryOp::Add:
    return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  case BinaryOp::Sub:
    return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  case BinaryOp::Mul:
    return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  case BinaryOp::Div:
    return b == -1 || a % b ? std::nullopt : std::optional(a / b);
  default: // Mod, with the sign of the divisor, so that `l % 2` is 0 or 1
    if (b == -1)
      return 0;
    return (a % b + b) % b;
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

Value Elaborator::finite(double number, Location at) {
  if (std::isfinite(number))
    return Value::ofFloat(number);
  report(Code::BadOperands, at, "the result is no finite number");
  return {};
}

Value Elaborator::arithmetic(const BinaryExpr &expr, const Value &lhs, const Value &rhs) {
  if (!lhs.isTensor() && !rhs.isTensor()) {
    if (lhs.isNumber() && rhs.isNumber()) {
      bool divides = expr.op == BinaryOp::Div || expr.op == BinaryOp::Mod;
      if (divides && rhs.number() == 0) {
        report(Code::DivisionByZero, expr.opLoc, "division by zero");
        return {};
      }
      if (lhs.isInt() && rhs.isInt())
        if (std::optional<int64_t> exact = integerResult(expr.op, lhs.integer, rhs.integer))
          return Value::ofInt(*exact);
      return finite(realResult(expr.op, lhs.number(), rhs.number()), expr.opLoc);
    }
    auto each = [&](const Value &a, const Value &b) { return arithmetic(expr, a, b); };
    if (std::optional<Value> list = zipped(lhs, rhs, expr.opLoc, each))
      return *list;
    report(Code::BadOperands, expr.opLoc,
           std::string("`") + syntax::spelling(expr.op) + "` of " + lhs.describe() + " and " +
               rhs.describe());
    return {};
  }
  if (expr.op == BinaryOp::Div && rhs.isNumber() && rhs.number() == 0) {
    report(Code::DivisionByZero, expr.opLoc, "division by zero");
    return {};
  }
  if (expr.op == BinaryOp::Mod) {
    report(Code::BadOperands, expr.opLoc, "`%` works on compile-time numbers, not on tensors");
    return {};
  }
  return elementwise(elementwiseWord(expr.op), lhs, rhs, expr.opLoc, expr.lhs->loc, expr.rhs->loc,
                     &expr);
}

Value Elaborator::power(const BinaryExpr &expr, const Value &lhs, const Value &rhs) {
  if (lhs.isNumber() && rhs.isNumber()) {
    double result = std::pow(lhs.number(), rhs.number());
    bool exact = lhs.isInt() && rhs.isInt() && rhs.integer >= 0 && std::abs(result) < 0x1p53;
    return exact ? Value::ofInt(static_cast<int64_t>(result)) : finite(result, expr.opLoc);
  }
  auto each = [&](const Value &a, const Value &b) { return power(expr, a, b); };
  if (std::optional<Value> list = zipped(lhs, rhs, expr.opLoc, each))
    return *list;
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
    result = elementwise("mul", result, lhs, expr.opLoc, expr.lhs->loc, expr.lhs->loc);
  return result;
}

Value Elaborator::compare(const BinaryExpr &expr, const Value &lhs, const Value &rhs) {
  if (lhs.isNumber() && rhs.isNumber())
    return Value::ofBool(holds(expr.op, lhs.number(), rhs.number()));
  if (lhs.isTensor() || rhs.isTensor())
    return elementwise(compareWord(expr.op), lhs, rhs, expr.opLoc, expr.lhs->loc, expr.rhs->loc);
  if (expr.op == BinaryOp::Eq || expr.op == BinaryOp::Ne)
    return Value::ofBool((lhs == rhs) == (expr.op == BinaryOp::Eq));
  report(Code::BadOperands, expr.opLoc,
         std::string("`") + syntax::spelling(expr.op) + "` of " + lhs.describe() + " and " +
             rhs.describe());
  return {};
}

Value Elaborator::constantLike(double number, const TensorType &type, Location at) {
  Op op(OpKind::Constant);
  op.number = number;
  return emit(std::move(op), {type.dtype, {}}, at);
}

Value Elaborator::unary(const char *word, const Value &operand, Location at) {
  TensorType type = typeOf(operand);
  if (!isFloat(type.dtype)) {
    report(Code::DTypeMismatch, at,
           std::string("`") + word + "` works on floating-point tensors, not on " +
               spelling(type.dtype));
    return {};
  }
  Op op(OpKind::Elementwise, {operand.tensor});
  op.word = word;
  return emit(std::move(op), type, at);
}

Value Elaborator::elementwise(const char *word, const Value &lhs, const Value &rhs, Location at,
                              Location lhsLoc, Location rhsLoc, const BinaryExpr *expr) {
  auto operand = [&](const Value &value, const Value &other, Location loc) -> Value {
    if (value.isTensor())
      return value;
    if (value.isNumber() && typeOf(other).dtype == DType::I64 && !value.isInt()) {
      report(Code::DTypeMismatch, loc,
             "the tensor is int, but " + value.print() + " is no whole number")
          .help("convert the tensor: `float(x)`");
      return {};
    }
    if (value.isNumber() && typeOf(other).dtype != DType::Bool)
      return constantLike(value.number(), typeOf(other), loc);
    if (value.isNumber()) {
      report(Code::DTypeMismatch, loc, "a comparison gives bool, which is combined with no number")
          .help("make a number of it: `where(x, 1, 0)`, or `float(x)`");
      return {};
    }
    if (!value.isError())
      report(Code::BadOperands, loc,
             std::string("a tensor cannot be combined with ") + value.describe());
    return {};
  };
  Value left = operand(lhs, rhs, lhsLoc), right = operand(rhs, lhs, rhsLoc);
  if (left.isError() || right.isError())
    return {};
  const TensorType a = typeOf(left), b = typeOf(right);
  if (!mayJoin(a.dtype, b.dtype)) {
    report(Code::DTypeMismatch, at,
           std::string("element types differ: ") + spelling(a.dtype) + " and " + spelling(b.dtype))
        .note(lhsLoc, std::string("this is ") + spelling(a.dtype))
        .note(rhsLoc, std::string("this is ") + spelling(b.dtype));
    return {};
  }
  Join join = joinElementwise(a.dims, b.dims);
  if (!join.valid()) {
    Diagnostic &diag =
        report(Code::OuterProduct, at,
               "only the left side has " + quote(join.onlyLeft) + ", only the right side has " +
                   quote(join.onlyRight) + ": this would be an outer product");
    if (expr) {
      noteOperand(diag, *expr->lhs, a.dims);
      noteOperand(diag, *expr->rhs, b.dims);
    } else {
      diag.note(lhsLoc, "this has " + print(a.dims)).note(rhsLoc, "this has " + print(b.dims));
    }
    diag.help("elementwise, one side's dimensions must all be on the other; if the product is "
              "meant, write `expand(x, " +
              model.dims[join.onlyRight[0]].name + ")`");
    return {};
  }
  bool isCompare = std::string(word).size() == 2; // eq, ne, lt, le, gt, ge
  Op op(OpKind::Elementwise, {left.tensor, right.tensor});
  op.word = word;
  return emit(std::move(op), {isCompare ? DType::Bool : a.dtype, join.result}, at);
}

} // namespace titan::sema
