#include "compiler/sema/elaboration/ElaboratorComponent.h"
#include "compiler/sema/elaboration/Elaboration.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>

namespace titan::sema {

ElaboratorComponent::ElaboratorComponent(Elaboration &elaboration)
    : elaboration(elaboration), library(elaboration.library), diags(elaboration.diags),
      model(elaboration.model), spec(elaboration.spec), context(elaboration.context) {}

Value ElaboratorComponent::eval(const syntax::Expr &expr, Expected expected) {
  return elaboration.expressions.eval(expr, expected);
}

Value ElaboratorComponent::emit(Op op, TensorType type, Location at) {
  return elaboration.recorder.emit(std::move(op), std::move(type), at);
}

std::optional<DimId> ElaboratorComponent::resolveDim(const syntax::Path &path) {
  return elaboration.dims.resolveDim(path);
}

Diagnostic &ElaboratorComponent::report(Code code, Location at, std::string message) {
  return elaboration.reports.report(code, at, std::move(message));
}

bool ElaboratorComponent::expectTensor(const Value &value, Location at, const char *what) {
  return elaboration.reports.expectTensor(value, at, what);
}

std::string ElaboratorComponent::print(const DimSet &dims) const {
  std::string all;
  for (DimId id : dims)
    all += (all.empty() ? "" : ", ") + displayName(id);
  return "[" + all + "]";
}

std::string ElaboratorComponent::printSizes(const DimSet &dims) const {
  std::string all;
  for (DimId id : dims)
    all += (all.empty() ? "" : ", ") + model.dims[id].name + " = " +
           std::to_string(model.dims[id].size);
  return "[" + all + "]";
}

std::string ElaboratorComponent::quote(const DimSet &dims) const {
  std::vector<std::string> names;
  for (DimId id : dims)
    names.push_back(displayName(id));
  return listNames(names);
}

std::string ElaboratorComponent::displayName(DimId id) const {
  const std::string &name = model.dims[id].name;
  const Binding *known = context.frame ? context.frame->scope->find(name) : nullptr;
  bool isOther = known && !known->dims.empty() &&
                 std::find(known->dims.begin(), known->dims.end(), id) == known->dims.end();
  return (isOther ? "another " : "") + name;
}

} // namespace titan::sema
