#include "compiler/sema/elaboration/Part.h"
#include "compiler/sema/elaboration/Elaboration.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>

namespace titan::sema {

Part::Part(Elaboration &parts)
    : parts(parts), library(parts.library), diags(parts.diags), model(parts.model),
      spec(parts.spec), here(parts.here) {}

Value Part::eval(const syntax::Expr &expr, Expected expected) {
  return parts.expressions.eval(expr, expected);
}

Value Part::emit(Op op, TensorType type, Location at) {
  return parts.recorder.emit(std::move(op), std::move(type), at);
}

std::optional<DimId> Part::dimOf(const syntax::Path &path) {
  return parts.dims.dimOf(path);
}

Diagnostic &Part::report(Code code, Location at, std::string message) {
  return parts.reports.report(code, at, std::move(message));
}

bool Part::expectTensor(const Value &value, Location at, const char *what) {
  return parts.reports.expectTensor(value, at, what);
}

std::string Part::print(const DimSet &dims) const {
  std::string all;
  for (DimId id : dims)
    all += (all.empty() ? "" : ", ") + nameHere(id);
  return "[" + all + "]";
}

std::string Part::printSizes(const DimSet &dims) const {
  std::string all;
  for (DimId id : dims)
    all += (all.empty() ? "" : ", ") + model.dims[id].name + " = " +
           std::to_string(model.dims[id].size);
  return "[" + all + "]";
}

std::string Part::quote(const DimSet &dims) const {
  std::vector<std::string> names;
  for (DimId id : dims)
    names.push_back(nameHere(id));
  return listNames(names);
}

std::string Part::nameHere(DimId id) const {
  const std::string &name = model.dims[id].name;
  const Binding *known = here.frame ? here.frame->scope->find(name) : nullptr;
  bool isOther = known && !known->dims.empty() &&
                 std::find(known->dims.begin(), known->dims.end(), id) == known->dims.end();
  return (isOther ? "another " : "") + name;
}

} // namespace titan::sema
