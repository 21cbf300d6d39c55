// Replacements of parameters, outside of their model.
#include "compiler/sema/elaboration/Elaboration.h"

#include <algorithm>
#include <utility>

namespace titan::sema {

using namespace syntax;

namespace {

class ReplacementBody : ElaboratorComponent {
public:
  ReplacementBody(Elaboration &elaboration, const Replacement &replacement)
      : ElaboratorComponent(elaboration), replacement(replacement),
        parameter(model.parameters[replacement.parameter]) {}

  void elaborate() {
    defineSizes();
    defineParameters(/*inRepeats=*/false);
    Region inner;
    Region *outer = parameter.repeats.empty() ? elaboration.recorder.region : &inner;
    outer = std::exchange(elaboration.recorder.region, outer);
    if (!parameter.repeats.empty())
      defineParameters(/*inRepeats=*/true);
    replace();
    elaboration.recorder.region = outer;
    if (!parameter.repeats.empty())
      outer->ops.push_back(repeated(std::move(inner), 0));
    removeUnused(model.body);
  }

private:
  /// Names of the model that are numbers.
  void defineSizes() {
    for (DimId dim = 0; dim < model.dims.size(); ++dim)
      if (model.dims[dim].size > 0)
        define(model.dims[dim].name, {Value::ofInt(model.dims[dim].size), {dim}, true, {}, "size"});
    for (const Model::Argument &argument : model.arguments)
      if (argument.kind == "integer")
        define(argument.name, {Value::ofInt(std::stoll(argument.value)), {}, true, {}, "argument"});
      else if (argument.kind == "number")
        define(argument.name,
               {Value::ofFloat(std::stod(argument.value)), {}, false, {}, "argument"});
  }

  void define(const std::string &name, Binding binding) {
    if (!context.frame->scope->findOwn(name))
      context.frame->scope->define(name, std::move(binding));
  }

  void defineParameters(bool inRepeats) {
    for (uint32_t i = 0; i < model.parameters.size(); ++i) {
      const Parameter &each = model.parameters[i];
      const bool isVisible =
          inRepeats ? each.repeats == parameter.repeats && each.iterations == parameter.iterations
                    : each.repeats.empty();
      if (!isVisible)
        continue;
      context.variable = each.name;
      Op op(OpKind::Parameter);
      op.index = i;
      define(each.name, {elaboration.recorder.append(std::move(op), each.type, each.loc),
                         {},
                         false,
                         each.loc,
                         "parameter"});
    }
    context.variable.clear();
  }

  void replace() {
    context.variable = parameter.name;
    const Value next = elaboration.buffers.nextValue(*replacement.value, parameter.name,
                                                     parameter.type, "parameter");
    context.variable.clear();
    if (!next.isTensor())
      return;
    Op op(OpKind::Update, {next.tensor});
    op.index = replacement.parameter;
    op.loc = replacement.value->loc;
    op.name = parameter.name;
    elaboration.recorder.region->ops.push_back(std::move(op));
    model.parameters[replacement.parameter].isUpdated = true;
  }

  /// The repeats from `level` on around a body. Other iterations do nothing.
  Op repeated(Region body, size_t level) {
    if (level + 1 < parameter.repeats.size()) {
      Region outer;
      outer.ops.push_back(repeated(std::move(body), level + 1));
      body = std::move(outer);
    }
    Op op(OpKind::Repeat);
    op.dims = {parameter.repeats[level]};
    op.loc = replacement.value->loc;
    op.name = "repeat";
    const std::vector<int64_t> &own = parameter.iterations[level];
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

  const Replacement &replacement;
  const Parameter parameter; // a copy: recording does not move it
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
  for (const Replacement &each : replacements) {
    Specialisation spec;
    spec.params = function.parameters[each.parameter].type.dtype;
    spec.compute = wider(spec.params, DType::F32);
    Scope scope;
    Frame top{nullptr, each.unit, &scope, nullptr, each.value->loc};
    Elaboration elaboration(library, diags, function, spec, top);
    ReplacementBody(elaboration, each).elaborate();
  }
  return diags.errorReports() == errorsBefore;
}

} // namespace titan::sema
