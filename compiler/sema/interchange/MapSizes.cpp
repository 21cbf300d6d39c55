#include "compiler/sema/interchange/MapSizes.h"

namespace titan::sema {

MapSizes::MapSizes(const Model &model, const std::string &component, const Library &library,
                   const Unit &unit, DiagnosticEngine &diags)
    : library(library), unit(unit), diags(diags) {
  for (DimId dim : getComponentDims(model, component))
    add(model.dims[dim]);
  for (DimId dim = 0; dim < model.dims.size(); ++dim)
    add(model.dims[dim]);
  if (auto called = model.calledArguments.find(component); called != model.calledArguments.end())
    add(called->second);
  add(model.arguments);
}

void MapSizes::add(const std::vector<Model::Argument> &arguments) {
  for (const Model::Argument &argument : arguments)
    if (argument.kind == "integer")
      known.try_emplace(argument.name, Value::ofInt(std::stoll(argument.value)));
}

void MapSizes::add(const Dim &dim) {
  if (dim.size > 0)
    known.try_emplace(dim.name, Value::ofInt(dim.size));
}

std::optional<int64_t> MapSizes::find(const std::string &name) const {
  auto found = known.find(name);
  return found == known.end() ? std::nullopt : std::optional(found->second.integer);
}

std::optional<int64_t> MapSizes::evaluate(const syntax::Expr &expr) const {
  const Value value = evalConstant(expr, known, library, unit, diags);
  if (value.isInt())
    return value.integer;
  if (!value.isError())
    diags.report(Code::BadStoredDims, expr.loc, "a size is an integer, not " + value.print());
  return std::nullopt;
}

std::optional<int64_t> MapSizes::multiply(int64_t a, int64_t b, Location loc) const {
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product))
    return product;
  diags.report(Code::BadStoredDims, loc, "the stored tensor would be larger than any tensor");
  return std::nullopt;
}

} // namespace titan::sema
