// The iteration arguments of a `repeat`: the tensors that its body assigns to.
//
// A sum often starts as a number: `let total = 0`. Only an interpretation shows whether the body
// changes it to a tensor. Trial iterations find this and are rolled back.
#include "compiler/sema/elaboration/BodyNames.h"
#include "compiler/sema/elaboration/Elaboration.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

std::vector<std::string> Repeats::iterArgNames(const Body &body) {
  std::vector<std::string> iterArgs;
  for (const Name &name : assignedNames(body)) {
    Binding *binding = lookup(name);
    bool known = std::find(iterArgs.begin(), iterArgs.end(), name.text) != iterArgs.end();
    if (binding && binding->value.isTensor() && !known)
      iterArgs.push_back(name.text);
  }
  return iterArgs;
}

Repeats::Snapshot Repeats::snapshot() const {
  return {model.values.size(), model.parameters, elaboration.recorder.known,
          elaboration.parameters.record, elaboration.budget.iterations};
}

/// Keeps new dimensions: outer names that became dimensions refer to them.
void Repeats::restore(Snapshot before) {
  model.values.resize(before.values);
  model.parameters = std::move(before.parameters);
  elaboration.recorder.known = std::move(before.known);
  elaboration.parameters.record = std::move(before.record);
  elaboration.budget.iterations = before.iterations;
}

bool Repeats::promoteToTensors(const RepeatStmt &stmt, DimId dim) {
  std::map<std::string, Value> before;
  for (const Name &name : assignedNames(stmt.body))
    if (Binding *binding = lookup(name); binding && !binding->value.isTensor())
      before.emplace(name.text, binding->value);
  // The first iteration that adds to a sum may be a later one.
  bool good = true;
  for (int64_t index = 0; good && !before.empty() && index < model.dims[dim].size; ++index)
    good = tryIteration(stmt, dim, index, before);
  for (const auto &[name, value] : before)
    context.frame->scope->find(name)->value = value;
  return good;
}

bool Repeats::tryIteration(const RepeatStmt &stmt, DimId dim, int64_t index,
                           std::map<std::string, Value> &before) {
  Snapshot saved = snapshot();
  Iteration trial;
  if (!iterate(stmt, iterArgNames(stmt.body), dim, index, trial))
    return false;
  std::map<std::string, TensorType> changed;
  for (const auto &[name, value] : before)
    if (Binding *binding = context.frame->scope->find(name); binding->value.isTensor()) {
      changed[name] = getTensorType(binding->value);
      binding->value = value;
    }
  restore(std::move(saved));
  bool good = true;
  for (const auto &[name, type] : changed) {
    good &= promoteToTensor(name, type, stmt);
    before.erase(name);
  }
  return good;
}

bool Repeats::promoteToTensor(const std::string &name, const TensorType &type,
                              const RepeatStmt &stmt) {
  Binding *binding = context.frame->scope->find(name);
  if (!binding->value.isNumber() || type.dtype == DType::Bool) {
    report(Code::AssignmentChangesType, stmt.loc,
           "`" + name + "` is " + binding->value.describe() +
               " before the repeat and a tensor after an iteration")
        .note(binding->loc, "`" + name + "` was defined here")
        .help("initialise it with a tensor of the same dimensions");
    return false;
  }
  std::string outer = context.variable;
  context.variable = name;
  Value start = elaboration.tensors.constantLike(binding->value, type, stmt.loc);
  if (!type.dims.empty())
    start = emit(Op(OpKind::Expand, {start.tensor}), type, stmt.loc);
  context.variable = outer;
  binding->value = start;
  return true;
}

} // namespace titan::sema
