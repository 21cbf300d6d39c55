// Interprets repeats. IterationArguments.cpp finds the iteration arguments.
#include "compiler/sema/elaboration/Elaboration.h"

#include <algorithm>
#include <utility>

namespace titan::sema {

using namespace syntax;

namespace {

/// Compares two bodies up to the numbers of their values.
class Comparison {
public:
  explicit Comparison(const Model &model) : model(model) {}

  /// The first operation of `b` without an equal in `a`; null if all are equal.
  const Op *firstDifference(const Region &a, const Region &b) {
    for (size_t i = 0; i < a.arguments.size(); ++i)
      match(a.arguments[i], b.arguments[i]);
    for (size_t i = 0; i < b.ops.size(); ++i)
      if (i >= a.ops.size() || !same(a.ops[i], b.ops[i]))
        return &b.ops[i];
    return a.ops.size() > b.ops.size() ? &a.ops[b.ops.size()] : nullptr;
  }

private:
  void match(ValueId a, ValueId b) { counterpart[b] = a; }
  ValueId mapped(ValueId b) const {
    auto found = counterpart.find(b);
    return found == counterpart.end() ? b : found->second;
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
  std::map<ValueId, ValueId> counterpart; ///< values of the first body by those of the second
};

} // namespace

/// Whether a sharding constraint of this region defines the value.
static bool isShardingConstraint(const Region &region, ValueId value) {
  return std::any_of(region.ops.begin(), region.ops.end(), [&](const Op &op) {
    return op.kind == OpKind::ShardingConstraint && op.results[0] == value;
  });
}

bool Repeats::iterate(const RepeatStmt &stmt, const std::vector<std::string> &iterArgs, DimId dim,
                      int64_t index, Iteration &result) {
  if (!elaboration.budget.iterate(stmt.loc))
    return false;
  size_t errorsBefore = elaboration.statements.unhandled();
  Recorder &recorder = elaboration.recorder;
  Region *outerRegion = std::exchange(recorder.region, &result.body);
  auto outerConversions = recorder.known.conversions; // those of the body end with it
  result.firstValue = model.values.size();
  std::vector<Value> before;
  result.body.arguments.push_back(recorder.newValue({DType::I64, {}}, stmt.loc));
  for (const std::string &name : iterArgs) {
    Binding *binding = context.frame->scope->find(name);
    before.push_back(binding->value);
    context.variable = name;
    ValueId argument = recorder.newValue(getTensorType(binding->value), stmt.loc);
    result.body.arguments.push_back(argument);
    binding->value = Value::ofTensor(argument);
  }
  context.variable.clear();
  runBody(stmt, dim, index);
  recorder.region = outerRegion;
  recorder.known.conversions = std::move(outerConversions);
  for (size_t i = 0; i < iterArgs.size(); ++i) {
    Binding *binding = context.frame->scope->find(iterArgs[i]);
    result.results.push_back(binding->value);
    if (binding->value.isTensor())
      result.body.yields.push_back(binding->value.tensor);
    binding->value = before[i];
  }
  return elaboration.statements.unhandled() == errorsBefore;
}

/// Interprets the body in its own scope.
void Repeats::runBody(const RepeatStmt &stmt, DimId dim, int64_t index) {
  Scope scope(context.frame->scope);
  if (stmt.index)
    scope.define(stmt.index->text,
                 {Value::ofInt(index), {}, false, stmt.index->loc, "index of the repeat"});
  context.loops.push_back({dim, index, context.frame});
  Scope *outer = std::exchange(context.frame->scope, &scope);
  elaboration.statements.elaborate(stmt.body);
  context.frame->scope = outer;
  context.loops.pop_back();
}

/// The dimension of a repeat; empty after an error.
std::optional<DimId> Repeats::dimension(const RepeatStmt &stmt) {
  if (auto *name = stmt.count->as<NameExpr>())
    return resolveDim(name->path);
  Value count = eval(*stmt.count);
  if (count.isInt() && count.integer > 0)
    return elaboration.dims.derivedDim(noDim, "repeats", count.integer, stmt.count->loc);
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
  if (!elaboration.budget.mayRepeat(count, stmt.count->loc))
    return;
  size_t parametersBefore = model.parameters.size();
  std::optional<Variants> variants;
  if (promoteToTensors(stmt, *dim)) {
    const Snapshot before = spec.tolerant ? snapshot() : Snapshot();
    while ((variants = interpret(stmt, *dim)) && forgetUnknown(*variants))
      restore(before);
  }
  if (context.loops.empty())
    elaboration.parameters.finishFrom(parametersBefore);
  if (variants)
    finish(stmt, *dim, std::move(*variants));
}

/// Interprets all iterations; empty after an error.
std::optional<Repeats::Variants> Repeats::interpret(const RepeatStmt &stmt, DimId dim) {
  Variants variants;
  variants.iterArgs = iterArgNames(stmt.body);
  for (int64_t index = 0; index < model.dims[dim].size; ++index) {
    Iteration next;
    if (!iterate(stmt, variants.iterArgs, dim, index, next) ||
        !addVariant(stmt, variants, std::move(next)))
      return std::nullopt;
  }
  return variants;
}

/// If errors are tolerated, a value that an iteration leaves unknown is not an iteration argument.
/// Returns true if there was one; the iterations must then be interpreted again.
bool Repeats::forgetUnknown(const Variants &variants) {
  bool found = false;
  for (const Iteration &body : variants.bodies)
    for (size_t i = 0; spec.tolerant && i < variants.iterArgs.size(); ++i)
      if (body.results[i].isError()) {
        context.frame->scope->find(variants.iterArgs[i])->value = {};
        found = true;
      }
  return found;
}

/// Finds the variant equal to `next`, or adds it. Each variant is compiled separately, so their
/// number is limited.
bool Repeats::addVariant(const RepeatStmt &stmt, Variants &variants, Iteration next) {
  constexpr size_t maxVariants = 32;
  const Op *difference = nullptr;
  std::vector<Iteration> &bodies = variants.bodies;
  for (size_t i = 0; i < bodies.size(); ++i) {
    difference = Comparison(model).firstDifference(bodies[i].body, next.body);
    if (difference)
      continue;
    variants.table.push_back(static_cast<int64_t>(i));
    elaboration.recorder.dropFrom(next.firstValue);
    return true;
  }
  if (bodies.size() == maxVariants) {
    report(Code::IterationsDiffer, difference->loc,
           "the iterations of the repeat have more than " + std::to_string(maxVariants) +
               " different bodies; they differ here")
        .note(stmt.loc, "iterations with equal bodies are compiled once")
        .help("let the index choose between a few cases (`if l % 2 == 0 then a else b`); for a "
              "recurrence, carry the position: `let at = index(seq)[seq: 0]` before the repeat, in "
              "it `x[seq: at]` and `at = at + 1`");
    return false;
  }
  variants.table.push_back(static_cast<int64_t>(bodies.size()));
  bodies.push_back(std::move(next));
  return true;
}

void Repeats::finish(const RepeatStmt &stmt, DimId dim, Variants variants) {
  const std::vector<std::string> &iterArgs = variants.iterArgs;
  Region &region = *elaboration.recorder.region;
  Op op(OpKind::Repeat);
  op.dims = {dim};
  op.table = std::move(variants.table);
  for (size_t i = 0; i < iterArgs.size(); ++i) {
    Binding *binding = context.frame->scope->find(iterArgs[i]);
    TensorType type = getTensorType(binding->value);
    for (const Iteration &variant : variants.bodies)
      if (!variant.results[i].isTensor() ||
          !getTensorType(variant.results[i]).dims.sameDims(type.dims))
        return; // reported where it was assigned
    op.operands.push_back(binding->value.tensor);
    op.names.push_back(isShardingConstraint(region, op.operands.back())
                           ? ""
                           : elaboration.tensors.nameForMaps(iterArgs[i]));
    context.variable = iterArgs[i];
    op.results.push_back(elaboration.recorder.newValue(type, stmt.loc));
    binding->value = Value::ofTensor(op.results.back());
  }
  context.variable.clear();
  op.loc = stmt.loc;
  op.name = iterArgs.empty() ? "repeat" : iterArgs[0];
  op.path = context.prefix(model.dims).text + model.dims[dim].name;
  for (Iteration &variant : variants.bodies)
    op.body.push_back(std::move(variant.body));
  region.ops.push_back(std::move(op));
}

} // namespace titan::sema
