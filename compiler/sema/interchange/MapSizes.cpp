#include "compiler/sema/interchange/MapSizes.h"
#include "compiler/sema/modules/Suggest.h"

#include "base/text/ReadNumber.h"

namespace titan::sema {

using namespace syntax;

MapSizes::MapSizes(const Model &model) {
  for (DimId dim = 0; dim < model.dims.size(); ++dim)
    if (model.dims[dim].size > 0)
      known.try_emplace(model.dims[dim].name, model.dims[dim].size);
  for (const Model::Argument &argument : model.arguments)
    if (argument.kind == "integer")
      known.try_emplace(argument.name, std::stoll(argument.value));
}

std::optional<int64_t> MapSizes::find(const std::string &name) const {
  auto found = known.find(name);
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

std::optional<int64_t> MapSizes::combine(const BinaryExpr &expr, DiagnosticEngine &diags) const {
  const std::optional<int64_t> lhs = evaluate(*expr.lhs, diags), rhs = evaluate(*expr.rhs, diags);
  if (!lhs || !rhs)
    return std::nullopt;
  int64_t result = 0;
  bool isWrong = false;
  switch (expr.op) {
  case BinaryOp::Add:
    isWrong = __builtin_add_overflow(*lhs, *rhs, &result);
    break;
  case BinaryOp::Sub:
    isWrong = __builtin_sub_overflow(*lhs, *rhs, &result);
    break;
  case BinaryOp::Mul:
    isWrong = __builtin_mul_overflow(*lhs, *rhs, &result);
    break;
  case BinaryOp::Div:
    isWrong = *rhs <= 0 || *lhs % *rhs != 0;
    result = isWrong ? 0 : *lhs / *rhs;
    break;
  default:
    isWrong = true;
  }
  if (!isWrong)
    return result;
  diags.report(Code::BadStoredDims, expr.opLoc, "this has no exact integer result")
      .help("sizes are integers, combined by `+`, `-`, `*` and `/` without a remainder");
  return std::nullopt;
}

std::optional<int64_t> MapSizes::evaluate(const Expr &expr, DiagnosticEngine &diags) const {
  if (auto *integer = expr.as<IntExpr>())
    return integer->value;
  if (auto *binary = expr.as<BinaryExpr>())
    return combine(*binary, diags);
  if (auto *name = expr.as<NameExpr>()) {
    if (std::optional<int64_t> size = find(name->path.text()))
      return size;
    std::vector<std::string> names;
    for (const auto &[each, size] : known)
      names.push_back(each);
    suggestName(diags.report(Code::BadStoredDims, expr.loc,
                             "the model has no size called `" + name->path.text() + "`"),
                expr.loc, name->path.text(), names);
    return std::nullopt;
  }
  diags.report(Code::BadStoredDims, expr.loc, "a size is an integer expression");
  return std::nullopt;
}

} // namespace titan::sema
