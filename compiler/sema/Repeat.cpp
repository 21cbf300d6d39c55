// `repeat`: a body interpreted once for every index, kept once.
//
// Initial values and other numbers may depend on the index, tensors may not: the ops of all
// iterations must agree, which `sameOps` checks by comparing them with values numbered in order.
#include "compiler/sema/Elaborator.h"

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

/// Compares two bodies that number their values differently.
class Comparison {
public:
  explicit Comparison(const Model &model) : model(model) {}

  /// The first op of `b` that has no equal in `a`; null if all agree.
  const Op *firstDifference(const Region &a, const Region &b) {
    for (size_t i = 0; i < a.arguments.size(); ++i)
      match(a.arguments[i], b.arguments[i]);
    for (size_t i = 0; i < b.ops.size(); ++i)
      if (i >= a.ops.size() || !same(a.ops[i], b.ops[i]))
        return &b.ops[i];
    return a.ops.size() > b.ops.size() ? &a.ops[b.ops.size()] : nullptr;
  }

private:
  void match(ValueId a, ValueId b) { of[b] = a; }
  ValueId mapped(ValueId b) const {
    auto found = of.find(b);
    return found == of.end() ? b : found->second;
  }
  bool same(const Op &a, const Op &b) {
    if (a.kind != b.kind || a.operands.size() != b.operands.size() || a.dims != b.dims ||
        a.word != b.word || a.number != b.number || a.index != b.index ||
        a.results.size() != b.results.size() || a.body.size() != b.body.size())
      return false;
    for (size_t i = 0; i < a.operands.size(); ++i)
      if (a.operands[i] != mapped(b.operands[i]))
        return false;
    for (size_t i = 0; i < a.body.size(); ++i)
      if (firstDifference(a.body[i], b.body[i]))
        return false;
    for (size_t i = 0; i < a.results.size(); ++i) {
      if (model.values[a.results[i]].type != model.values[b.results[i]].type)
        return false;
      match(a.results[i], b.results[i]);
    }
    return true;
  }

  const Model &model;
  std::map<ValueId, ValueId> of;
};

} // namespace

struct Elaborator::Iteration {
  Region body;
  std::vector<Value> results;
};

std::vector<std::string> Elaborator::carriedNames(const Body &body) {
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

bool Elaborator::iterate(const RepeatStmt &stmt, const std::vector<std::string> &carried, DimId dim,
                         int64_t index, Iteration &result) {
  ++iterations;
  if (!withinBounds(stmt.loc))
    return false;
  size_t errorsBefore = diags.errorReports();
  Scope scope(frame->scope);
  Region *outerRegion = region;
  auto outerConversions = conversions; // those of the body end with it
  std::vector<Value> before;
  region = &result.body;
  region->arguments.push_back(newValue({DType::I64, {}}, stmt.loc));
  for (const std::string &name : carried) {
    Binding *binding = frame->scope->find(name);
    before.push_back(binding->value);
    variable = name;
    ValueId argument = newValue(typeOf(binding->value), stmt.loc);
    region->arguments.push_back(argument);
    binding->value = Value::ofTensor(argument);
  }
  variable.clear();
  if (stmt.index)
    scope.define(stmt.index->text,
                 {Value::ofInt(index), {}, false, stmt.index->loc, "index of the repeat"});
  loops.push_back({dim, index});
  Scope *outerScope = frame->scope;
  frame->scope = &scope;
  elaborate(stmt.body);
  frame->scope = outerScope;
  loops.pop_back();
  region = outerRegion;
  conversions = std::move(outerConversions);
  for (size_t i = 0; i < carried.size(); ++i) {
    Binding *binding = frame->scope->find(carried[i]);
    result.results.push_back(binding->value);
    if (binding->value.isTensor())
      result.body.yields.push_back(binding->value.tensor);
    binding->value = before[i];
  }
  return diags.errorReports() == errorsBefore;
}

void Elaborator::repeat(const RepeatStmt &stmt) {
  std::optional<DimId> dim;
  if (auto *name = stmt.count->as<NameExpr>()) {
    dim = dimOf(name->path);
  } else {
    Value count = eval(*stmt.count);
    if (count.isInt() && count.integer > 0)
      dim = derivedDim(noDim, "repeats", count.integer, stmt.count->loc);
    else if (!count.isError())
      report(Code::BadDimensionSize, stmt.count->loc,
             "`repeat` needs a positive integer, not " + count.print());
  }
  if (!dim)
    return;
  int64_t count = model.dims[*dim].size;
  std::vector<std::string> carried = carriedNames(stmt.body);
  Iteration first;
  size_t parametersBefore = model.parameters.size();
  bool good = iterate(stmt, carried, *dim, 0, first);
  size_t valuesAfterFirst = model.values.size();
  size_t parametersAfter = model.parameters.size();
  for (int64_t index = 1; good && index < count; ++index) {
    Iteration next;
    good = iterate(stmt, carried, *dim, index, next);
    if (!good)
      break;
    if (const Op *other = Comparison(model).firstDifference(first.body, next.body)) {
      report(Code::IterationsDiffer, other->loc,
             "iteration " + std::to_string(index) +
                 " of the repeat computes something else than "
                 "iteration 0 here")
          .note(stmt.loc,
                "every iteration must do the same; only numbers of `~` and `=` may differ");
      good = false;
    }
    model.values.resize(valuesAfterFirst);
  }
  // What is drawn alike in all iterations is said once.
  for (size_t i = parametersBefore; i < parametersAfter && loops.empty(); ++i) {
    std::vector<Initialiser> &all = model.parameters[i].initialisers;
    if (std::all_of(all.begin(), all.end(), [&](const Initialiser &one) { return one == all[0]; }))
      all.resize(1);
  }
  if (good)
    finishRepeat(stmt, carried, *dim, std::move(first));
}

void Elaborator::finishRepeat(const RepeatStmt &stmt, const std::vector<std::string> &carried,
                              DimId dim, Iteration first) {
  Op op(OpKind::Repeat);
  op.dims = {dim};
  for (size_t i = 0; i < carried.size(); ++i) {
    Binding *binding = frame->scope->find(carried[i]);
    TensorType type = typeOf(binding->value);
    if (!first.results[i].isTensor() || !(typeOf(first.results[i]).dims.sameDims(type.dims)))
      return; // reported where it was assigned
    op.operands.push_back(binding->value.tensor);
    variable = carried[i];
    op.results.push_back(newValue(type, stmt.loc));
    binding->value = Value::ofTensor(op.results.back());
  }
  variable.clear();
  op.loc = stmt.loc;
  op.name = carried.empty() ? "repeat" : carried[0];
  op.body.push_back(std::move(first.body));
  region->ops.push_back(std::move(op));
}

} // namespace titan::sema
