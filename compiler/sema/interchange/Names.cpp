#include "compiler/sema/interchange/Names.h"

namespace titan::sema {

using namespace syntax;

namespace {

void collect(const Expr &expr, std::vector<Name> &names);

void collectMatch(const MatchExpr &match, std::vector<Name> &names) {
  collect(*match.subject, names);
  for (const MatchExpr::Arm &arm : match.arms) {
    for (const ExprPtr &pattern : arm.patterns)
      collect(*pattern, names);
    collect(*arm.value, names);
  }
}

void collectAll(const std::vector<ExprPtr> &all, std::vector<Name> &names) {
  for (const ExprPtr &one : all)
    collect(*one, names);
}

void collect(const Expr &expr, std::vector<Name> &names) {
  if (auto *name = expr.as<NameExpr>()) {
    const bool isOpen = name->path.text() == "_"; // of a partial application
    if (name->path.isSimple() && !isOpen)
      names.push_back(name->path.last());
  } else if (auto *unary = expr.as<UnaryExpr>()) {
    collect(*unary->operand, names);
  } else if (auto *binary = expr.as<BinaryExpr>()) {
    collect(*binary->lhs, names);
    collect(*binary->rhs, names);
  } else if (auto *choice = expr.as<IfExpr>()) {
    collect(*choice->cond, names);
    collect(*choice->thenValue, names);
    collect(*choice->elseValue, names);
  } else if (auto *match = expr.as<MatchExpr>()) {
    collectMatch(*match, names);
  } else if (auto *call = expr.as<CallExpr>()) {
    for (const Arg &arg : call->args)
      if (arg.value)
        collect(*arg.value, names);
  } else if (auto *tuple = expr.as<TupleExpr>()) {
    collectAll(tuple->elements, names);
  } else if (auto *list = expr.as<ListExpr>()) {
    collectAll(list->elements, names);
  }
}

} // namespace

std::vector<Name> namesIn(const Expr &expr) {
  std::vector<Name> names;
  collect(expr, names);
  return names;
}

} // namespace titan::sema
