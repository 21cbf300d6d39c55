// `x = ...`: assigns a new value to a name.
#include "compiler/sema/elaboration/Elaboration.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

void Statements::assign(const AssignStmt &stmt) {
  bool isModel = context.frame->decl && context.frame->decl->is<ModelDecl>();
  if (isModel && stmt.targets.size() == 1 && stmt.targets[0].text == "loss" &&
      !lookup(stmt.targets[0]))
    return elaboration.losses.add(stmt);
  std::string outerVariable = context.variable;
  context.variable = stmt.targets[0].text;
  // The current value determines the dimensions of the new one.
  std::optional<DimSet> declared;
  if (Binding *known = lookup(stmt.targets[0]); known && known->value.isTensor())
    declared = getTensorType(known->value).dims;
  Value value = eval(*stmt.value, declared && stmt.targets.size() == 1 ? &*declared : nullptr);
  context.variable = outerVariable;
  if (stmt.targets.size() == 1)
    return assignTo(stmt.targets[0], value, stmt.value->loc);
  bool fits = value.kind == Value::Kind::List && value.elements.size() == stmt.targets.size();
  if (!fits && !value.isError())
    report(Code::ResultCount, stmt.value->loc,
           "this value does not consist of the " + std::to_string(stmt.targets.size()) +
               " values that the names before `=` require");
  for (size_t i = 0; i < stmt.targets.size(); ++i)
    assignTo(stmt.targets[i], fits ? value.elements[i] : Value(), stmt.value->loc);
}

/// Whether the current body has a result of this name.
static bool isResult(const Decl *decl, const std::string &name) {
  const std::vector<Name> *results = nullptr;
  if (auto *fn = decl ? decl->as<FnDecl>() : nullptr)
    results = &fn->results;
  if (auto *block = decl ? decl->as<BlockDecl>() : nullptr)
    results = &block->results;
  return results && std::any_of(results->begin(), results->end(),
                                [&](const Name &result) { return result.text == name; });
}

/// Whether the name of a tensor may take this value: the same dimensions and, up to conversions,
/// the same element type; reports otherwise.
bool Statements::mayReplace(const Name &name, const Binding &binding, const Value &value,
                            Location valueLoc) {
  auto refuse = [&](std::string what, const char *help) {
    report(Code::AssignmentChangesType, valueLoc, "`" + name.text + "` " + std::move(what))
        .note(binding.loc, "`" + name.text + "` was defined here")
        .help(help);
    return false;
  };
  if (elaboration.reports.refuseCallable(value, valueLoc))
    return false;
  if (elaboration.buffers.refuseAssignment(name, binding))
    return false;
  if (value.isError())
    return true;
  if (!value.isTensor())
    return refuse(std::string("is a tensor, but this is ") + value.describe(),
                  "define a value of another kind by `let`");
  const TensorType &before = getTensorType(binding.value), &after = getTensorType(value);
  if (!before.dims.sameDims(after.dims))
    return refuse("has " + print(before.dims) + ", but this has " + print(after.dims),
                  "define a value with other dimensions by `let`");
  if (!mayJoin(before.dtype, after.dtype))
    return refuse(std::string("is ") + spelling(before.dtype) + ", but this is " +
                      spelling(after.dtype),
                  "define a value of another element type by `let`");
  return true;
}

void Statements::assignTo(const Name &name, Value value, Location valueLoc) {
  Binding *binding = lookup(name);
  if (!binding && isResult(context.frame->decl, name.text)) {
    bindLet(name, std::move(value));
    return;
  }
  if (!binding) {
    Diagnostic &diag = elaboration.reports.unknownName(name);
    if (diag.remedy.empty() && !diag.fixIt)
      diag.help("define a new name by `let`: `let " + name.text + " = ...`");
    return;
  }
  if (!binding->value.isTensor()) {
    if (!elaboration.buffers.refuseAssignment(name, *binding))
      binding->value = std::move(value);
    return;
  }
  if (!mayReplace(name, *binding, value, valueLoc))
    return;
  if (value.isTensor())
    value = Value::ofTensor(elaboration.recorder.converted(
        value.tensor, getTensorType(binding->value).dtype, valueLoc));
  binding->value = std::move(value);
}

} // namespace titan::sema
