#include "compiler/sema/elaboration/Elaboration.h"
#include "compiler/sema/elaboration/Masks.h"
#include "compiler/sema/elaboration/SymbolicConstants.h"
#include "compiler/sema/modules/Suggest.h"

#include <cmath>
#include <utility>

namespace titan::sema {

using namespace syntax;

namespace {

bool isLanguageWord(const std::string &name) {
  return symbolicConstants().count(name) != 0;
}

/// Whether a model contains the expression, directly or through calls.
bool isInModel(const Frame *frame) {
  while (frame->caller)
    frame = frame->caller;
  return frame->decl && frame->decl->is<ModelDecl>();
}

} // namespace

const std::set<std::string> &symbolicConstants() {
  static const std::set<std::string> words = {
      "causal", "interleaved", "half",    "auto",   "f32",   "f64",       "bf16",
      "f16",    "text",        "indexed", "params", "grads", "optimizer", "infinity"};
  return words;
}

Value Expressions::eval(const Expr &expr, Expected expected) {
  if (!elaboration.budget.spend(expr.loc))
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
    return name(*expr.as<NameExpr>());
  case ExprKind::Unary:
    return unary(*expr.as<UnaryExpr>(), expected);
  case ExprKind::Binary:
    return binary(*expr.as<BinaryExpr>(), expected);
  case ExprKind::If:
    return conditional(*expr.as<IfExpr>(), expected);
  case ExprKind::Match:
    return match(*expr.as<MatchExpr>(), expected);
  case ExprKind::Call:
    return elaboration.calls.evalCall(*expr.as<CallExpr>());
  case ExprKind::Index:
    return elaboration.indexing.evalIndex(*expr.as<IndexExpr>());
  case ExprKind::Typed:
    return typed(*expr.as<TypedExpr>());
  case ExprKind::Tuple:
  case ExprKind::List:
    break;
  }
  return listed(expr);
}

/// A tuple or a list.
Value Expressions::listed(const Expr &expr) {
  std::vector<Value> elements;
  auto *tuple = expr.as<TupleExpr>();
  for (const ExprPtr &element : tuple ? tuple->elements : expr.as<ListExpr>()->elements)
    elements.push_back(eval(*element));
  return Value::ofList(std::move(elements));
}

Value Expressions::name(const NameExpr &expr) {
  const Name &name = expr.path.segments[0];
  if (expr.path.isSimple()) {
    if (Binding *binding = lookup(name)) {
      if (binding->value.kind == Value::Kind::None && binding->dims.size() == 1)
        return Value::ofInt(model.dims[binding->dims[0]].size);
      return binding->value;
    }
    if (name.text == "infinity")
      return Value::ofFloat(HUGE_VAL);
    if (isLanguageWord(name.text))
      return Value::ofWord(name.text);
    if (name.text == "_") {
      report(Code::UnknownName, expr.loc, "`_` is not a value")
          .help("alone as an argument of a call, it leaves that argument open: `f(_, a)`");
      return {};
    }
  }
  if (Binding *binding = context.frame->scope->find(expr.path.text())) // `layers.wq` of a `merge`
    return binding->value;
  if (std::optional<Value> callee = elaboration.callables.evalCallee(expr))
    return *callee;
  if (expr.path.isSimple() && isInModel(context.frame)) {
    if (name.text == "step")
      return emit(Op(OpKind::Step), {DType::I64, {}}, expr.loc);
    if (name.text == "training")
      return emit(Op(context.isTraining() ? OpKind::Training : OpKind::Constant), {DType::Bool, {}},
                  expr.loc);
  }
  if (!elaboration.reports.member(expr.path))
    elaboration.reports.unknownName(expr.path, expr.loc);
  return {};
}

Value Expressions::unary(const UnaryExpr &expr, Expected expected) {
  if (expr.op == UnaryOp::Not) {
    Value operand = eval(*expr.operand);
    if (operand.isTensor())
      return elaboration.arithmetic.logicalNot(operand, expr.loc, expr.operand->loc);
    std::optional<bool> boolean = expectCondition(operand, expr.operand->loc);
    return boolean ? Value::ofBool(!*boolean) : Value();
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
  return elaboration.tensors.unary("neg", operand, expr.loc);
}

std::optional<bool> Expressions::condition(const Expr &expr) {
  return expectCondition(eval(expr), expr.loc);
}

std::optional<bool> Expressions::expectCondition(const Value &value, Location at) {
  if (value.kind == Value::Kind::Bool)
    return value.boolean();
  if (value.isTensor())
    report(Code::TensorCondition, at,
           "a condition is decided at compile time, but this is a tensor")
        .help("choose per element with `where(condition, a, b)`");
  else if (!value.isError() && !elaboration.reports.refuseCallable(value, at))
    report(Code::ExpectedCondition, at,
           std::string("a condition must be true or false, not ") + value.describe());
  return std::nullopt;
}

Value Expressions::conditional(const IfExpr &expr, Expected expected) {
  std::optional<bool> boolean = condition(*expr.cond);
  if (!boolean)
    return {};
  return eval(*boolean ? *expr.thenValue : *expr.elseValue, expected);
}

/// Reports an arm with the pattern of an earlier arm, because it is never selected.
static void reportRepeatedPatterns(const MatchExpr &expr, DiagnosticEngine &diags) {
  std::map<std::string, Location> seen;
  for (const MatchExpr::Arm &arm : expr.arms)
    for (const ExprPtr &pattern : arm.patterns) {
      std::string text(diags.sourceManager().text(pattern->loc));
      auto [earlier, fresh] = seen.try_emplace(std::move(text), pattern->loc);
      if (!fresh)
        diags
            .report(Code::UnreachableArm, pattern->loc,
                    "this arm is never chosen: an earlier arm has the same value")
            .note(earlier->second, "the earlier arm is here");
    }
}

Value Expressions::match(const MatchExpr &expr, Expected expected) {
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
             "this arm is never chosen: the earlier arm `_` matches every value")
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
      .help("add an arm for it, or `_ then ...` for all other values");
  return {};
}

/// `causal and window(64)`
Value Expressions::joinMasks(const BinaryExpr &expr, const Mask &mask) {
  if (expr.op != BinaryOp::And) {
    report(Code::BadMask, expr.opLoc, "terms of a mask are joined by `and`, not by `or`")
        .help("a query attends to a key where every term allows it");
    return {};
  }
  Value second = eval(*expr.rhs);
  std::optional<Mask> other = asMask(second);
  if (!other) {
    if (!second.isError())
      report(Code::BadMask, expr.rhs->loc, second.print() + " is not a term of a mask")
          .help("a term is `causal`, `window(n)` or `document(ids)`");
    return {};
  }
  if (std::optional<Mask> both = intersect(mask, *other))
    return Value::ofMask(*both);
  report(Code::BadMask, expr.loc, "a mask has one `document`")
      .help("number the documents so that two positions see each other if their numbers are equal");
  return {};
}

Value Expressions::logic(const BinaryExpr &expr) {
  Value first = eval(*expr.lhs);
  if (std::optional<Mask> mask = asMask(first))
    return joinMasks(expr, *mask);
  if (first.isTensor())
    return elaboration.arithmetic.combineBooleans(expr, first, eval(*expr.rhs));
  std::optional<bool> left = expectCondition(first, expr.lhs->loc);
  if (!left)
    return {};
  bool decided = expr.op == BinaryOp::And ? !*left : *left;
  if (decided)
    return Value::ofBool(*left);
  Value second = eval(*expr.rhs);
  if (second.isTensor())
    return elaboration.arithmetic.isBoolean(expr, second, expr.rhs->loc) ? second : Value();
  std::optional<bool> right = expectCondition(second, expr.rhs->loc);
  return right ? Value::ofBool(*right) : Value();
}

Value Expressions::binary(const BinaryExpr &expr, Expected expected) {
  if (expr.op == BinaryOp::And || expr.op == BinaryOp::Or)
    return logic(expr);
  // A declared result applies through sums and products to the contraction, not to the operands of
  // the contraction.
  Expected inner = expr.op == BinaryOp::Contract ? nullptr : expected;
  Value lhs = eval(*expr.lhs, inner);
  Value rhs = eval(*expr.rhs, inner);
  if (lhs.isError() || rhs.isError())
    return {};
  bool compares = expr.op == BinaryOp::Eq || expr.op == BinaryOp::Ne;
  if (!compares && (elaboration.reports.refuseCallable(lhs, expr.lhs->loc) ||
                    elaboration.reports.refuseCallable(rhs, expr.rhs->loc)))
    return {};
  switch (expr.op) {
  case BinaryOp::Contract:
    return elaboration.arithmetic.contraction(expr, lhs, rhs, expected);
  case BinaryOp::Pow:
    return elaboration.arithmetic.power(expr, lhs, rhs);
  case BinaryOp::Eq:
  case BinaryOp::Ne:
  case BinaryOp::Lt:
  case BinaryOp::Le:
  case BinaryOp::Gt:
  case BinaryOp::Ge:
    return elaboration.arithmetic.compare(expr, lhs, rhs);
  default:
    return elaboration.arithmetic.arithmetic(expr, lhs, rhs);
  }
}

Value Expressions::typed(const TypedExpr &expr) {
  const Location outer = std::exchange(elaboration.statements.definingValue, expr.base->loc);
  std::optional<DimSet> declared = elaboration.dims.dimSet(expr.dims);
  elaboration.statements.definingValue = outer;
  Value base = eval(*expr.base, declared ? &*declared : nullptr);
  if (!declared || base.isError() || !expectTensor(base, expr.base->loc, "a value with dimensions"))
    return {};
  return elaboration.tensors.constrain(base, *declared, expr.dims.loc, expr.base->loc);
}

} // namespace titan::sema
