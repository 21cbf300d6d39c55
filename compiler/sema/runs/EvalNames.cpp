#include "compiler/sema/runs/EvalNames.h"

namespace titan::sema {

using namespace syntax;

Value evalNames(const Expr &expr, const std::function<Value(const Expr &)> &evaluate) {
  if (auto *name = expr.as<NameExpr>())
    return Value::ofWord(name->path.text());
  const std::vector<ExprPtr> *elements = nullptr;
  if (auto *tuple = expr.as<TupleExpr>())
    elements = &tuple->elements;
  if (auto *list = expr.as<ListExpr>())
    elements = &list->elements;
  if (!elements)
    return evaluate(expr);
  std::vector<Value> words;
  for (const ExprPtr &element : *elements)
    words.push_back(evalNames(*element, evaluate));
  return Value::ofList(std::move(words));
}

} // namespace titan::sema
