// Operators, conditionals and names.
#include "compiler/sema/Elaborator.h"
#include "compiler/sema/Suggest.h"
#include "compiler/sema/Words.h"

#include <cmath>

namespace titan::sema {

using namespace syntax;

namespace {

bool isLanguageWord(const std::string &name) {
  return languageWords().count(name) != 0;
}

} // namespace

const std::set<std::string> &languageWords() {
  static const std::set<std::string> words = {
      "causal", "interleaved", "half",     "auto",  "f32",  "f64",    "bf16",  "f16",
      "linear", "cosine",      "constant", "adamw", "text", "params", "grads", "optimizer"};
  return words;
}

Value Elaborator::eval(const Expr &expr, Expected expected) {
  size_t &work = spec.work ? *spec.work : ownWork;
  if (++work > mostWork && !withinBounds(expr.loc))
    return {};
  switch (expr.kind) {
  case ExprKind::Int:
    return Value::ofInt(expr.as<IntExpr>()->value);
  case ExprKind::Float:
    return Value::ofFloat(expr.as<FloatExpr>()->value);
  case ExprKind::String:
    return Value::ofString(expr.as<StringExpr>()->value);
  case ExprKind::Bool:
    return Value::ofBool(expr.as<BoolExpr>()->value);
  case ExprKind::None:
    return Value::none();
  case ExprKind::Name:
    return evalName(*expr.as<NameExpr>());
  case ExprKind::Unary:
    return evalUnary(*expr.as<UnaryExpr>(), expected);
  case ExprKind::Binary:
    return evalBinary(*expr.as<BinaryExpr>(), expected);
  case ExprKind::If:
    return evalIf(*expr.as<IfExpr>(), expected);
  case ExprKind::Match:
    return evalMatch(*expr.as<MatchExpr>(), expected);
  case ExprKind::Call:
    return evalCall(*expr.as<CallExpr>());
  case ExprKind::Index:
    return evalIndex(*expr.as<IndexExpr>());
  case ExprKind::Typed:
    return evalTyped(*expr.as<TypedExpr>());
  case ExprKind::Tuple:
  case ExprKind::List:
    break;
  }
  std::vector<Value> elements;
  auto *tuple = expr.as<TupleExpr>();
  for (const ExprPtr &element : tuple ? tuple->elements : expr.as<ListExpr>()->elements)
    elements.push_back(eval(*element));
  return Value::ofList(std::move(elements));
}

Value Elaborator::evalName(const NameExpr &expr) {
  const Name &name = expr.path.parts[0];
  if (expr.path.isSimple()) {
    if (Binding *binding = lookup(name)) {
      if (binding->value.kind == Value::Kind::None && binding->dims.size() == 1)
        return Value::ofInt(model.dims[binding->dims[0]].size);
      return binding->value;
    }
    if (isLanguageWord(name.text))
      return Value::ofWord(name.text);
    if (name.text == "_") {
      report(Code::UnknownName, expr.loc, "`_` stands for no value")
          .help("alone as an argument of a call, it leaves that argument open: `f(_, a)`");
      return {};
    }
  }
  if (std::optional<Value> callee = evalCallee(expr))
    return *callee;
  if (!reportMember(expr.path))
    reportUnknownName(expr.path, expr.loc);
  return {};
}

Value Elaborator::evalUnary(const UnaryExpr &expr, Expected expected) {
  if (expr.op == UnaryOp::Not) {
    std::optional<bool> truth = condition(*expr.operand);
    return truth ? Value::ofBool(!*truth) : Value();
  }
  Value operand = eval(*expr.operand, expected);
  auto ofNumber = [](const Value &x) {
    bool exact = x.isInt() && x.integer != INT64_MIN;
    return exact ? Value::ofInt(-x.integer) : Value::ofFloat(-x.number());
  };
  if (operand.isNumber())
    return ofNumber(operand);
  if (operand.isNumberList())
    return mapped(operand, ofNumber);
  if (!expectTensor(operand, expr.operand->loc, "the operand of `-`"))
    return {};
  return unary("neg", operand, expr.loc);
}

std::optional<bool> Elaborator::condition(const Expr &expr) {
  return truthOf(eval(expr), expr.loc);
}

std::optional<bool> Elaborator::truthOf(const Value &value, Location at) {
  if (value.kind == Value::Kind::Bool)
    return value.truth();
  if (value.isTensor())
    report(Code::TensorCondition, at,
           "a condition is decided at compile time, but this is a tensor")
        .help("choose per element with `where(condition, a, b)`");
  else if (!value.isError() && !refuseCallable(value, at))
    report(Code::ExpectedCondition, at,
           std::string("a condition must be true or false, not ") + value.describe());
  return std::nullopt;
}

Value Elaborator::evalIf(const IfExpr &expr, Expected expected) {
  std::optional<bool> truth = condition(*expr.cond);
  if (!truth)
    return {};
  return eval(*truth ? *expr.thenValue : *expr.elseValue, expected);
}

/// Of two arms with the same text before `then`, only the first can be chosen.
static void reportRepeatedPatterns(const MatchExpr &expr, DiagnosticEngine &diags) {
  std::map<std::string, Location> seen;
  for (const MatchExpr::Arm &arm : expr.arms)
    for (const ExprPtr &pattern : arm.patterns) {
      std::string text(diags.sourceManager().text(pattern->loc));
      auto [earlier, fresh] = seen.try_emplace(std::move(text), pattern->loc);
      if (!fresh)
        diags
            .report(Code::UnreachableArm, pattern->loc,
                    "this is never chosen: an arm before it has it already")
            .note(earlier->second, "that one is here");
    }
}

Value Elaborator::evalMatch(const MatchExpr &expr, Expected expected) {
  Value subject = eval(*expr.subject);
  if (subject.isTensor()) {
    report(Code::TensorCondition, expr.subject->loc,
           "a `match` is decided at compile time, but this is a tensor")
        .help("choose per element with `where(condition, a, b)`");
    return {};
  }
  if (subject.isError())
    return {};
  for (size_t i = 1; i < expr.arms.size(); ++i)
    if (expr.arms[i - 1].patterns.empty())
      report(Code::UnreachableArm, expr.arms[i].loc,
             "this arm is never chosen: `_` before it has all")
          .help("write `_` last");
  reportRepeatedPatterns(expr, diags);
  for (const MatchExpr::Arm &arm : expr.arms) {
    bool isTaken = arm.patterns.empty();
    for (const ExprPtr &pattern : arm.patterns) {
      Value value = eval(*pattern);
      if (value.isTensor())
        report(Code::TensorCondition, pattern->loc,
               "an arm is chosen at compile time, but this is a tensor");
      if (value.isTensor() || value.isError())
        return {};
      isTaken |= value == subject;
    }
    if (isTaken)
      return eval(*arm.value, expected);
  }
  report(Code::NoArm, expr.subject->loc, "no arm of this `match` is for " + subject.print())
      .help("add an arm for it, or `_ then ...` for whatever the others are not for");
  return {};
}

Value Elaborator::evalLogic(const BinaryExpr &expr) {
  Value first = eval(*expr.lhs);
  std::optional<Mask> mask = asMask(first);
  if (mask && expr.op == BinaryOp::And) { // `causal and window(64)`
    Value second = eval(*expr.rhs);
    if (std::optional<Mask> other = asMask(second))
      return intersect(*mask, *other, expr.loc);
    if (!second.isError())
      report(Code::BadMask, expr.rhs->loc, second.print() + " is no part of a mask")
          .help("a part is `causal`, `window(n)` or `document(ids)`");
    return {};
  }
  if (mask) {
    report(Code::BadMask, expr.opLoc, "parts of a mask are joined by `and`, not by `or`")
        .help("a query sees a key where every part lets it");
    return {};
  }
  std::optional<bool> left = truthOf(first, expr.lhs->loc);
  if (!left)
    return {};
  bool decided = expr.op == BinaryOp::And ? !*left : *left;
  if (decided)
    return Value::ofBool(*left);
  std::optional<bool> right = condition(*expr.rhs);
  return right ? Value::ofBool(*right) : Value();
}

Value Elaborator::evalBinary(const BinaryExpr &expr, Expected expected) {
  if (expr.op == BinaryOp::And || expr.op == BinaryOp::Or)
    return evalLogic(expr);
  // What is declared reaches through sums and products down to the contraction, not into one
  // contraction's own operands.
  Expected inner = expr.op == BinaryOp::Contract ? nullptr : expected;
  Value lhs = eval(*expr.lhs, inner);
  Value rhs = eval(*expr.rhs, inner);
  if (lhs.isError() || rhs.isError())
    return {};
  bool compares = expr.op == BinaryOp::Eq || expr.op == BinaryOp::Ne;
  if (!compares && (refuseCallable(lhs, expr.lhs->loc) || refuseCallable(rhs, expr.rhs->loc)))
    return {};
  switch (expr.op) {
  case BinaryOp::Contract:
    return contraction(expr, lhs, rhs, expected);
  case BinaryOp::Pow:
    return power(expr, lhs, rhs);
  case BinaryOp::Eq:
  case BinaryOp::Ne:
  case BinaryOp::Lt:
  case BinaryOp::Le:
  case BinaryOp::Gt:
  case BinaryOp::Ge:
    return compare(expr, lhs, rhs);
  default:
    return arithmetic(expr, lhs, rhs);
  }
}

Value Elaborator::contraction(const BinaryExpr &expr, const Value &lhs, const Value &rhs,
                              Expected expected) {
  if (!expectTensor(lhs, expr.lhs->loc, "the left side of `@`") ||
      !expectTensor(rhs, expr.rhs->loc, "the right side of `@`"))
    return {};
  const TensorType left = typeOf(lhs), right = typeOf(rhs);
  if (!expected && declarationFailed) // reported where it was written
    return {};
  if (!expected) {
    Diagnostic &diag = report(Code::ContractionUndeclared, expr.opLoc,
                              "`@` needs a declared result, to know what to sum");
    noteOperand(diag, *expr.lhs, left.dims);
    noteOperand(diag, *expr.rhs, right.dims);
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
  Contraction typed = contract(left.dims, right.dims, *expected);
  if (!typed.valid()) {
    DimSet lost = typed.lostLeft.unite(typed.lostRight);
    Diagnostic &diag = report(
        Code::ContractionLosesDimension, expr.opLoc,
        quote(lost) + (lost.size() == 1 ? " would be lost: it is" : " would be lost: they are") +
            " in one operand alone and not in the declared result " + print(*expected));
    noteOperand(diag, *expr.lhs, left.dims);
    noteOperand(diag, *expr.rhs, right.dims);
    diag.help("a contraction sums only what both operands have; add " + quote(lost) +
              " to the declared result, or sum it first with `sum(x, over " +
              model.dims[lost[0]].name + ")`");
    return {};
  }
  return emit(Op(OpKind::Contract, {lhs.tensor, rhs.tensor}), {left.dtype, typed.result}, expr.loc);
}

Value Elaborator::evalTyped(const TypedExpr &expr) {
  std::optional<DimSet> declared = dimSet(expr.dims);
  Value base = eval(*expr.base, declared ? &*declared : nullptr);
  if (!declared || base.isError() || !expectTensor(base, expr.base->loc, "a value with dimensions"))
    return {};
  return anchor(base, *declared, expr.dims.loc, expr.base->loc);
}

} // namespace titan::sema
