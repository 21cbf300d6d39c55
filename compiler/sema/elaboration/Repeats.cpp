// What is carried from one iteration to the next is found in Carried.cpp.
#include "compiler/sema/elaboration/Elaboration.h"

#include <algorithm>
#include <utility>

namespace titan::sema {

using namespace syntax;

namespace {

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
        a.word != b.word || a.number != b.number || a.numbers != b.numbers || a.index != b.index ||
        a.results.size() != b.results.size() || a.body.size() != b.body.size() ||
        a.table != b.table || a.blocks != b.blocks)
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

/// Whether an anchor of this region gives the value.
static bool isAnchor(const Region &region, ValueId value) {
  return std::any_of(region.ops.begin(), region.ops.end(), [&](const Op &op) {
    return op.kind == OpKind::Anchor && op.results[0] == value;
  });
}

bool Repeats::iterate(const RepeatStmt &stmt, const std::vector<std::string> &carried, DimId dim,
                      int64_t index, Iteration &result) {
  if (!parts.budget.iterate(stmt.loc))
    return false;
  size_t errorsBefore = diags.errorReports();
  Recorder &recorder = parts.recorder;
  Region *outerRegion = std::exchange(recorder.region, &result.body);
  auto outerConversions = recorder.known.conversions; // those of the body end with it
  result.firstValue = model.values.size();
  std::vector<Value> before;
  result.body.arguments.push_back(recorder.newValue({DType::I64, {}}, stmt.loc));
  for (const std::string &name : carried) {
    Binding *binding = here.frame->scope->find(name);
    before.push_back(binding->value);
    here.variable = name;
    ValueId argument = recorder.newValue(typeOf(binding->value), stmt.loc);
    result.body.arguments.push_back(argument);
    binding->value = Value::ofTensor(argument);
  }
  here.variable.clear();
  runBody(stmt, dim, index);
  recorder.region = outerRegion;
  recorder.known.conversions = std::move(outerConversions);
  for (size_t i = 0; i < carried.size(); ++i) {
    Binding *binding = here.frame->scope->find(carried[i]);
    result.results.push_back(binding->value);
    if (binding->value.isTensor())
      result.body.yields.push_back(binding->value.tensor);
    binding->value = before[i];
  }
  return diags.errorReports() == errorsBefore;
}

/// The body, in a scope of its own.
void Repeats::runBody(const RepeatStmt &stmt, DimId dim, int64_t index) {
  Scope scope(here.frame->scope);
  if (stmt.index)
    scope.define(stmt.index->text,
                 {Value::ofInt(index), {}, false, stmt.index->loc, "index of the repeat"});
  here.loops.push_back({dim, index});
  Scope *outer = std::exchange(here.frame->scope, &scope);
  parts.statements.elaborate(stmt.body);
  here.frame->scope = outer;
  here.loops.pop_back();
}

/// The dimension that a repeat runs over; nothing after a report.
std::optional<DimId> Repeats::dimension(const RepeatStmt &stmt) {
  if (auto *name = stmt.count->as<NameExpr>())
    return dimOf(name->path);
  Value count = eval(*stmt.count);
  if (count.isInt() && count.integer > 0)
    return parts.dims.derivedDim(noDim, "repeats", count.integer, stmt.count->loc);
  if (!count.isError())
    report(Code::BadDimensionSize, stmt.count->loc,
           "`repeat` needs a positive integer, not " + count.print());
  return std::nullopt;
}

void Repeats::repeat(const RepeatStmt &stmt) {
  std::optional<DimId> dim = dimension(stmt);
  if (!dim)
    return;
  int64_t count = model.dims[*dim].size;
  if (!parts.budget.mayRepeat(count, stmt.count->loc))
    return;
  std::vector<Iteration> variants;
  std::vector<int64_t> table;
  size_t parametersBefore = model.parameters.size();
  bool good = startAsTensors(stmt, *dim);
  std::vector<std::string> carried = carriedNames(stmt.body);
  for (int64_t index = 0; good && index < count; ++index) {
    Iteration next;
    good = iterate(stmt, carried, *dim, index, next) &&
           addVariant(stmt, variants, std::move(next), table);
  }
  if (here.loops.empty())
    parts.parameters.finishFrom(parametersBefore);
  if (good)
    finish(stmt, carried, *dim, std::move(variants), std::move(table));
}

/// Finds the variant that does what `next` does, or makes `next` one. Each variant is compiled by
/// itself, so there is a bound.
bool Repeats::addVariant(const RepeatStmt &stmt, std::vector<Iteration> &variants, Iteration next,
                         std::vector<int64_t> &table) {
  constexpr size_t mostVariants = 32;
  const Op *difference = nullptr;
  for (size_t i = 0; i < variants.size(); ++i) {
    difference = Comparison(model).firstDifference(variants[i].body, next.body);
    if (difference)
      continue;
    table.push_back(static_cast<int64_t>(i));
    parts.recorder.dropFrom(next.firstValue);
    return true;
  }
  if (variants.size() == mostVariants) {
    report(Code::IterationsDiffer, difference->loc,
           "the iterations of the repeat compute over " + std::to_string(mostVariants) +
               " different things; they differ here")
        .note(stmt.loc, "iterations that compute the same are compiled once, all others each")
        .help("let the index decide between a few cases (`if l % 2 == 0 then a else b`), or only "
              "the numbers of `~` and `=`");
    return false;
  }
  table.push_back(static_cast<int64_t>(variants.size()));
  variants.push_back(std::move(next));
  return true;
}

void Repeats::finish(const RepeatStmt &stmt, const std::vector<std::string> &carried, DimId dim,
                     std::vector<Iteration> variants, std::vector<int64_t> table) {
  Region &region = *parts.recorder.region;
  Op op(OpKind::Repeat);
  op.dims = {dim};
  op.table = std::move(table);
  for (size_t i = 0; i < carried.size(); ++i) {
    Binding *binding = here.frame->scope->find(carried[i]);
    TensorType type = typeOf(binding->value);
    for (const Iteration &variant : variants)
      if (!variant.results[i].isTensor() || !typeOf(variant.results[i]).dims.sameDims(type.dims))
        return; // reported where it was assigned
    op.operands.push_back(binding->value.tensor);
    op.names.push_back(
        isAnchor(region, op.operands.back()) ? "" : parts.tensors.nameForMaps(carried[i]));
    here.variable = carried[i];
    op.results.push_back(parts.recorder.newValue(type, stmt.loc));
    binding->value = Value::ofTensor(op.results.back());
  }
  here.variable.clear();
  op.loc = stmt.loc;
  op.name = carried.empty() ? "repeat" : carried[0];
  for (Iteration &variant : variants)
    op.body.push_back(std::move(variant.body));
  region.ops.push_back(std::move(op));
}

} // namespace titan::sema
