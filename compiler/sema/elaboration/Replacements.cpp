// Replacements of parameters: expressions that are written outside of the model, as `merge`
// entries.
#include "compiler/sema/elaboration/Elaboration.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace titan::sema {

using namespace syntax;

namespace {

/// Replacements of parameters of the same repeats, iterations and component, in one body: a
/// pipeline has one repeat over its layers.
class ReplacementBody : ElaboratorComponent {
public:
  ReplacementBody(Elaboration &elaboration, const std::vector<Replacement> &replacements)
      : ElaboratorComponent(elaboration), replacements(replacements), loc(replacements[0].loc),
        component(replacements[0].component), repeats(firstParameter().repeats),
        iterations(firstParameter().iterations) {}

  void elaborate() {
    defineSizes();
    defineParameters(/*inRepeats=*/false);
    Region inner;
    Region *outer = repeats.empty() ? elaboration.recorder.region : &inner;
    outer = std::exchange(elaboration.recorder.region, outer);
    if (!repeats.empty())
      defineParameters(/*inRepeats=*/true);
    for (const Replacement &each : replacements)
      replace(each);
    elaboration.recorder.region = outer;
    if (!repeats.empty())
      outer->ops.push_back(repeated(std::move(inner), 0));
    removeUnused(model.body);
  }

private:
  const Parameter &firstParameter() const { return model.parameters[replacements[0].parameter]; }

  /// Names of the model that are numbers.
  void defineSizes() {
    for (DimId dim : getComponentDims(model, component))
      defineSize(dim);
    for (DimId dim = 0; dim < model.dims.size(); ++dim)
      defineSize(dim);
    for (const Model::Argument &argument : model.arguments)
      if (argument.kind == "integer")
        define(argument.name, {Value::ofInt(std::stoll(argument.value)), {}, true, {}, "argument"});
      else if (argument.kind == "number")
        define(argument.name,
               {Value::ofFloat(std::stod(argument.value)), {}, false, {}, "argument"});
  }

  void defineSize(DimId dim) {
    const Dim &of = model.dims[dim];
    if (of.size > 0)
      define(of.name, {Value::ofInt(of.size), {dim}, true, {}, "size"});
  }

  void define(const std::string &name, Binding binding) {
    if (!context.frame->scope->findOwn(name))
      context.frame->scope->define(name, std::move(binding));
  }

  void defineParameters(bool inRepeats) {
    for (uint32_t i = 0; i < model.parameters.size(); ++i) {
      const Parameter &each = model.parameters[i];
      const bool isVisible = inRepeats ? each.repeats == repeats && each.iterations == iterations
                                       : each.repeats.empty();
      if (!isVisible || !each.name.starts_with(component))
        continue;
      context.variable = each.name;
      Op op(OpKind::Parameter);
      op.index = i;
      define(each.name.substr(component.size()),
             {elaboration.recorder.append(std::move(op), each.type, each.loc),
              {},
              false,
              each.loc,
              "parameter"});
    }
    context.variable.clear();
  }

  void replace(const Replacement &replacement) {
    Parameter &parameter = model.parameters[replacement.parameter];
    context.frame->unit = replacement.unit;
    context.variable = parameter.name;
    const Value next =
        replacement.value
            ? elaboration.buffers.nextValue(*replacement.value, parameter.name, parameter.type,
                                            "parameter")
            : elaboration.adaptation.merge(*replacement.adapter, replacement.parameter);
    context.variable.clear();
    if (!next.isTensor())
      return;
    Op op(OpKind::Update, {next.tensor});
    op.index = replacement.parameter;
    op.loc = replacement.loc;
    op.name = parameter.name;
    elaboration.recorder.region->ops.push_back(std::move(op));
    parameter.isUpdated = true;
  }

  /// The repeats from `level` on around a body. Other iterations do nothing.
  Op repeated(Region body, size_t level) {
    if (level + 1 < repeats.size()) {
      Region outer;
      outer.ops.push_back(repeated(std::move(body), level + 1));
      body = std::move(outer);
    }
    Op op(OpKind::Repeat);
    op.dims = {repeats[level]};
    op.loc = loc;
    op.name = "repeat";
    const std::vector<int64_t> &own = iterations[level];
    const auto count = static_cast<size_t>(model.dims[op.dims[0]].size);
    op.table.assign(count, own.size() == count ? 0 : 1);
    for (int64_t iteration : own)
      op.table[static_cast<size_t>(iteration)] = 0;
    op.body.push_back(std::move(body));
    if (own.size() != count)
      op.body.emplace_back();
    for (Region &each : op.body)
      each.arguments.push_back(elaboration.recorder.newValue({DType::I64, {}}, op.loc));
    return op;
  }

  static void collectOperands(const Region &region, std::set<ValueId> &operands) {
    for (const Op &op : region.ops) {
      operands.insert(op.operands.begin(), op.operands.end());
      for (const Region &body : op.body)
        collectOperands(body, operands);
    }
  }

  /// Removes parameters that no expression names.
  static void removeUnused(Region &region) {
    std::set<ValueId> operands;
    collectOperands(region, operands);
    remove(region, operands);
  }

  static void remove(Region &region, const std::set<ValueId> &operands) {
    std::erase_if(region.ops, [&](const Op &op) {
      return op.kind == OpKind::Parameter && !operands.count(op.results[0]);
    });
    for (Op &op : region.ops)
      for (Region &body : op.body)
        remove(body, operands);
  }

  const std::vector<Replacement> &replacements;
  Location loc; // of the first one
  std::string component;
  std::vector<DimId> repeats;
  std::vector<std::vector<int64_t>> iterations;
};

} // namespace

bool elaborateReplacements(const Model &model, const std::vector<Replacement> &replacements,
                           const Library &library, DiagnosticEngine &diags, Model &function) {
  const size_t errorsBefore = diags.errorReports();
  function.name = model.name;
  function.loc = model.loc;
  function.arguments = model.arguments;
  function.dims = model.dims;
  function.parameters = model.parameters;
  for (Parameter &parameter : function.parameters)
    parameter.isUpdated = false;
  using Key = std::tuple<std::vector<DimId>, std::vector<std::vector<int64_t>>, std::string>;
  std::map<Key, std::vector<Replacement>> groups;
  for (const Replacement &each : replacements) {
    const Parameter &parameter = model.parameters[each.parameter];
    groups[{parameter.repeats, parameter.iterations, each.component}].push_back(each);
  }
  for (const auto &[key, group] : groups) {
    Specialisation spec; // an update is a precision region of a wider parameter's type
    Scope scope;
    Frame top{nullptr, group[0].unit, &scope, nullptr, group[0].loc};
    Elaboration elaboration(library, diags, function, spec, top);
    ReplacementBody(elaboration, group).elaborate();
  }
  return diags.errorReports() == errorsBefore;
}

} // namespace titan::sema
