#include "compiler/sema/elaboration/Elaboration.h"

#include <algorithm>
#include <utility>

namespace titan::sema {

using namespace syntax;

const std::vector<std::string> &getAdapterRoles() {
  static const std::vector<std::string> roles = {"inputs", "outputs", "all"};
  return roles;
}

/// The dimensions of the role, in the order of the parameter.
std::vector<DimId> Adaptation::getDims(const Adapter &adapter, const std::string &role,
                                       const DimSet &all) const {
  const std::vector<size_t> &others = role == "inputs" ? adapter.outputs : adapter.inputs;
  std::vector<DimId> dims;
  for (size_t i = 0; i < all.size(); ++i)
    if (role == "all" || std::find(others.begin(), others.end(), i) == others.end())
      dims.push_back(all[i]);
  return dims;
}

Value Adaptation::call(const Adapter &adapter, const Name &name, const Value &weight) {
  static const Arg value = [] { // the binder expects expressions of arguments with values
    Arg arg;
    arg.value = std::make_unique<NameExpr>(Location());
    return arg;
  }();
  static const Arg dims = [] {
    Arg arg;
    arg.kind = ArgKind::Over;
    arg.dims.emplace();
    return arg;
  }();
  const Callee &callee = adapter.callable->callee;
  const Location at = adapter.loc;
  std::vector<Actual> arguments{{ArgKind::Positional, {}, &value, at, false, weight}};
  for (const Formal &formal : *getFormals(*callee.symbol.decl))
    if (formal.kind == FormalKind::Over)
      arguments.push_back({ArgKind::Over,
                           {},
                           &dims,
                           at,
                           false,
                           {},
                           getDims(adapter, formal.name.text, getTensorType(weight).dims)});
  if (callee.isBlock())
    arguments.push_back(
        {ArgKind::Keyword, Name{"named", at}, &value, at, false, Value::ofString(name.text)});
  const Adapter *outer = std::exchange(elaboration.parameters.adapter, &adapter);
  Value adapted = elaboration.calls.callValue(adapter.callable, std::move(arguments), at);
  elaboration.parameters.adapter = outer;
  if (adapted.isError())
    return {};
  const bool isLike = adapted.isTensor() &&
                      getTensorType(adapted).dims.sameDims(getTensorType(weight).dims) &&
                      mayJoin(getTensorType(adapted).dtype, getTensorType(weight).dtype);
  if (isLike)
    return adapted;
  report(Code::BadAdapter, at,
         "the adapter returns " +
             (adapted.isTensor() ? "a tensor of " + print(getTensorType(adapted).dims)
                                 : std::string(adapted.describe())) +
             ", not one like parameter `" + name.text + "`, " + print(getTensorType(weight).dims))
      .note(getName(*callee.symbol.decl).loc, "the adapter is declared here");
  return {};
}

Value Adaptation::apply(const Name &name, const Value &weight) {
  if (!spec.adapters)
    return weight;
  const auto found = spec.adapters->find(context.prefix(model.dims).text + name.text);
  return found == spec.adapters->end() ? weight : call(found->second, name, weight);
}

Value Adaptation::merge(const Adapter &adapter, uint32_t index) {
  const Parameter &parameter = model.parameters[index];
  const size_t dot = parameter.name.rfind('.');
  const size_t begin = dot == std::string::npos ? 0 : dot + 1;
  elaboration.parameters.existing = parameter.name.substr(0, begin);
  Value value;
  {
    const DType computed = elaboration.recorder.computeType;
    PrecisionRegion region(elaboration.recorder, wider(computed, parameter.type.dtype));
    Op op(OpKind::Parameter);
    op.index = index;
    const Value weight = elaboration.recorder.append(std::move(op), parameter.type, adapter.loc);
    value = call(adapter, Name{parameter.name.substr(begin), parameter.loc}, weight);
  }
  elaboration.parameters.existing.reset();
  return value.isError() ? Value()
                         : elaboration.buffers.checkNextValue(value, parameter.name, parameter.type,
                                                              "parameter", adapter.loc);
}

} // namespace titan::sema
