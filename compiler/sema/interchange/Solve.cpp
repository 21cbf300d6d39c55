#include "compiler/sema/interchange/Solve.h"
#include "compiler/sema/elaboration/ExactInteger.h"
#include "compiler/sema/interchange/Names.h"

#include <algorithm>
#include <optional>

namespace titan::sema {

using namespace syntax;

namespace {

using Kind = Solution::Kind;

double real(BinaryOp op, double a, double b) {
  return op == BinaryOp::Add   ? a + b
         : op == BinaryOp::Sub ? a - b
         : op == BinaryOp::Mul ? a * b
                               : a / b;
}

std::optional<Value> apply(BinaryOp op, const Value &a, const Value &b) {
  if (!a.isNumber() || !b.isNumber())
    return std::nullopt;
  if (a.isInt() && b.isInt()) {
    std::optional<int64_t> result = exactInteger(op, a.integer, b.integer);
    return result ? std::optional(Value::ofInt(*result)) : std::nullopt;
  }
  if (op == BinaryOp::Div && b.number() == 0)
    return std::nullopt;
  return Value::ofFloat(real(op, a.number(), b.number()));
}

class Solver {
public:
  Solver(const NamedValues &known, const std::set<std::string> &unknown, const Evaluate &evaluate)
      : known(known), unknown(unknown), evaluate(evaluate) {}

  Solution solve(const Expr &expr, const Value &value) const {
    if (isKnown(expr))
      return {evaluate(expr, known) == value ? Kind::Holds : Kind::Fails};
    if (auto *name = expr.as<NameExpr>())
      return {Kind::Solved, name->path.last().text, value};
    if (auto *unary = expr.as<UnaryExpr>())
      return solveUnary(*unary, value);
    if (auto *binary = expr.as<BinaryExpr>())
      return solveBinary(*binary, value);
    auto *choice = expr.as<IfExpr>();
    return choice ? solveChoice(*choice, value) : Solution{};
  }

private:
  bool isKnown(const Expr &expr) const {
    std::vector<Name> names = namesIn(expr);
    return std::none_of(names.begin(), names.end(),
                        [&](const Name &name) { return unknown.count(name.text) != 0; });
  }

  Solution solveUnary(const UnaryExpr &expr, const Value &value) const {
    bool isNot = expr.op == UnaryOp::Not;
    if (isNot && value.kind == Value::Kind::Bool)
      return solve(*expr.operand, Value::ofBool(!value.boolean()));
    std::optional<Value> negated = apply(BinaryOp::Sub, Value::ofInt(0), value);
    return isNot || !negated ? Solution{Kind::Fails} : solve(*expr.operand, *negated);
  }

  Solution solveBinary(const BinaryExpr &expr, const Value &value) const {
    bool leftKnown = isKnown(*expr.lhs), rightKnown = isKnown(*expr.rhs);
    if (!leftKnown && !rightKnown)
      return {};
    const Expr &operand = leftKnown ? *expr.rhs : *expr.lhs;
    const Value other = evaluate(leftKnown ? *expr.lhs : *expr.rhs, known);
    if (expr.op == BinaryOp::Eq || expr.op == BinaryOp::Ne)
      return value.kind != Value::Kind::Bool                ? Solution{Kind::Fails}
             : value.boolean() == (expr.op == BinaryOp::Eq) ? solve(operand, other)
                                                            : Solution{};
    std::optional<Value> rest = invert(expr.op, value, other, leftKnown);
    return rest ? solve(operand, *rest) : Solution{Kind::Fails};
  }

  /// The unknown operand x of `x op other = value`, or of `other op x = value`.
  static std::optional<Value> invert(BinaryOp op, const Value &value, const Value &other,
                                     bool isSecond) {
    switch (op) {
    case BinaryOp::Add:
      return apply(BinaryOp::Sub, value, other);
    case BinaryOp::Mul:
      return apply(BinaryOp::Div, value, other);
    case BinaryOp::Sub:
      return isSecond ? apply(BinaryOp::Sub, other, value) : apply(BinaryOp::Add, value, other);
    case BinaryOp::Div:
      return isSecond ? apply(BinaryOp::Div, other, value) : apply(BinaryOp::Mul, value, other);
    default:
      return std::nullopt;
    }
  }

  Solution solveChoice(const IfExpr &expr, const Value &value) const {
    if (isKnown(*expr.cond))
      return solve(evaluate(*expr.cond, known).boolean() ? *expr.thenValue : *expr.elseValue,
                   value);
    bool knowsThen = isKnown(*expr.thenValue), knowsElse = isKnown(*expr.elseValue);
    bool isThen = knowsThen && evaluate(*expr.thenValue, known) == value;
    bool isElse = knowsElse && evaluate(*expr.elseValue, known) == value;
    if (knowsThen && knowsElse && !isThen && !isElse)
      return {Kind::Fails};
    if (isThen == isElse && knowsThen == knowsElse)
      return {};
    const bool takesThen = isThen || (!isElse && !knowsThen);
    Solution found = solve(*expr.cond, Value::ofBool(takesThen));
    // `if cap == none then none else cap`: the condition does not determine `cap`, but the value
    // does.
    const bool isOther = takesThen ? !knowsThen : !knowsElse;
    return found.kind == Kind::Open && isOther
               ? solve(takesThen ? *expr.thenValue : *expr.elseValue, value)
               : found;
  }

  const NamedValues &known;
  const std::set<std::string> &unknown;
  const Evaluate &evaluate;
};

bool reads(const Expr &expr, const std::string &name) {
  std::vector<Name> names = namesIn(expr);
  return std::any_of(names.begin(), names.end(), [&](const Name &one) { return one.text == name; });
}

bool isInvertible(BinaryOp op) {
  return op == BinaryOp::Add || op == BinaryOp::Sub || op == BinaryOp::Mul || op == BinaryOp::Div ||
         op == BinaryOp::Eq || op == BinaryOp::Ne;
}

} // namespace

/// Whether solve() could find `name` once all other names have values.
static bool canSolve(const Expr &expr, const std::string &name) {
  if (expr.is<NameExpr>())
    return reads(expr, name);
  if (auto *unary = expr.as<UnaryExpr>())
    return canSolve(*unary->operand, name);
  if (auto *binary = expr.as<BinaryExpr>()) {
    bool left = reads(*binary->lhs, name), right = reads(*binary->rhs, name);
    return isInvertible(binary->op) && left != right &&
           canSolve(left ? *binary->lhs : *binary->rhs, name);
  }
  if (auto *choice = expr.as<IfExpr>())
    return canSolve(*choice->cond, name) || canSolve(*choice->thenValue, name) ||
           canSolve(*choice->elseValue, name);
  return false;
}

Solution solve(const Expr &expr, const Value &value, const NamedValues &known,
               const std::set<std::string> &unknown, const Evaluate &evaluate) {
  Solution found = Solver(known, unknown, evaluate).solve(expr, value);
  if (found.kind != Kind::Solved)
    return found;
  NamedValues all = known;
  all[found.name] = found.value;
  std::set<std::string> rest = unknown;
  rest.erase(found.name);
  bool isChecked = Solver(all, rest, evaluate).solve(expr, value).kind != Kind::Fails;
  return isChecked ? found : Solution{Kind::Fails};
}

std::optional<std::string> solvedName(const Expr &expr, const std::set<std::string> &unknown) {
  auto unknownIn = [&](const Expr &term) {
    std::set<std::string> names;
    for (const Name &name : namesIn(term))
      if (unknown.count(name.text))
        names.insert(name.text);
    return names;
  };
  std::set<std::string> names = unknownIn(expr);
  auto *choice = expr.as<IfExpr>();
  bool isOpenChoice =
      choice && !unknownIn(*choice->cond).empty() &&
      (unknownIn(*choice->thenValue).empty() || unknownIn(*choice->elseValue).empty());
  const Expr &solved = isOpenChoice ? *choice->cond : expr;
  if (isOpenChoice)
    names = unknownIn(solved);
  bool gives = names.size() == 1 && canSolve(solved, *names.begin());
  return gives ? std::optional(*names.begin()) : std::nullopt;
}

} // namespace titan::sema
