// What a `repeat` carries from one iteration to the next: the tensors that its body assigns to.
//
// A sum often starts as a number: `let total = 0`. Whether the body makes a tensor of it is known
// only once it was interpreted, so iterations are tried for that and taken back.
#include "compiler/sema/elaboration/Elaboration.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

namespace {

/// The names that statements assign to, nested statements included.
void collectAssigned(const Body &body, std::vector<Name> &names) {
  for (const StmtPtr &stmt : body.stmts) {
    if (auto *assign = stmt->as<AssignStmt>())
      names.insert(names.end(), assign->targets.begin(), assign->targets.end());
    else if (auto *repeat = stmt->as<RepeatStmt>())
      collectAssigned(repeat->body, names);
    else if (auto *branch = stmt->as<IfStmt>()) {
      for (const IfStmt::Branch &each : branch->branches)
        collectAssigned(each.body, names);
      if (branch->elseBody)
        collectAssigned(*branch->elseBody, names);
    } else if (auto *island = stmt->as<IslandStmt>())
      collectAssigned(island->body, names);
  }
}

} // namespace

std::vector<std::string> Repeats::carriedNames(const Body &body) {
  std::vector<Name> assigned;
  collectAssigned(body, assigned);
  std::vector<std::string> carried;
  for (const Name &name : assigned) {
    Binding *binding = lookup(name);
    bool known = std::find(carried.begin(), carried.end(), name.text) != carried.end();
    if (binding && binding->value.isTensor() && !known)
      carried.push_back(name.text);
  }
  return carried;
}

bool Repeats::startAsTensors(const RepeatStmt &stmt, DimId dim) {
  std::vector<Name> assigned;
  collectAssigned(stmt.body, assigned);
  std::map<std::string, Value> before;
  for (const Name &name : assigned)
    if (Binding *binding = lookup(name); binding && !binding->value.isTensor())
      before.emplace(name.text, binding->value);
  // A later iteration may be the first that adds something.
  bool good = true;
  for (int64_t index = 0; good && !before.empty() && index < model.dims[dim].size; ++index)
    good = tryIteration(stmt, dim, index, before);
  for (const auto &[name, value] : before)
    here.frame->scope->find(name)->value = value;
  return good;
}

bool Repeats::tryIteration(const RepeatStmt &stmt, DimId dim, int64_t index,
                           std::map<std::string, Value> &before) {
  // Dimensions may stay: names from outside that became such refer to them.
  auto saved = std::tuple(model.parameters, parts.recorder.known, parts.parameters.record,
                          parts.budget.iterations);
  Iteration trial;
  if (!iterate(stmt, carriedNames(stmt.body), dim, index, trial))
    return false;
  std::map<std::string, TensorType> turned;
  for (const auto &[name, value] : before)
    if (Binding *binding = here.frame->scope->find(name); binding->value.isTensor()) {
      turned[name] = typeOf(binding->value);
      binding->value = value;
    }
  model.values.resize(trial.firstValue);
  std::tie(model.parameters, parts.recorder.known, parts.parameters.record,
           parts.budget.iterations) = std::move(saved);
  bool good = true;
  for (const auto &[name, type] : turned) {
    good &= startAsTensor(name, type, stmt);
    before.erase(name);
  }
  return good;
}

bool Repeats::startAsTensor(const std::string &name, const TensorType &type,
                            const RepeatStmt &stmt) {
  Binding *binding = here.frame->scope->find(name);
  if (!binding->value.isNumber() || type.dtype == DType::Bool) {
    report(Code::AssignmentChangesType, stmt.loc,
           "`" + name + "` is " + binding->value.describe() +
               " before the repeat, and a tensor after an iteration")
        .note(binding->loc, "`" + name + "` was defined here")
        .help("let it start as a tensor of the same dimensions");
    return false;
  }
  std::string outer = here.variable;
  here.variable = name;
  Value start = parts.tensors.constantLike(binding->value.number(), type, stmt.loc);
  if (!type.dims.empty())
    start = emit(Op(OpKind::Expand, {start.tensor}), type, stmt.loc);
  here.variable = outer;
  binding->value = start;
  return true;
}

} // namespace titan::sema
