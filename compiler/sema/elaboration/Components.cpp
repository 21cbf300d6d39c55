#include "compiler/sema/elaboration/Elaboration.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>
#include <utility>

namespace titan::sema {

using namespace syntax;

static bool isFormal(const std::vector<Formal> &formals, const std::string &name) {
  return std::any_of(formals.begin(), formals.end(),
                     [&](const Formal &formal) { return formal.name.text == name; });
}

Components::DimKey Components::makeKey(const std::string &name, const Binding &binding) {
  return {name, binding.loc.file, binding.loc.line, binding.loc.col, binding.value.integer};
}

// Arguments

void Components::defineTop(const std::vector<Formal> &formals) {
  for (const auto &[name, argument] : spec.sizes)
    context.frame->scope->define(name,
                                 {argument.value, {}, true, argument.loc, "dimension of the data"});
  defineArguments(formals, spec.arguments);
}

void Components::defineArguments(const std::vector<Formal> &formals, const Arguments &arguments) {
  std::vector<Model::Argument> listed;
  for (const Formal &formal : formals) {
    Argument argument = argumentFor(formal, arguments);
    checkType(formal, argument);
    Binding binding{argument.value, argument.dims, true, argument.loc, "argument"};
    if (auto known = dimsOfArguments.find(makeKey(formal.name.text, binding));
        known != dimsOfArguments.end() && binding.dims.empty())
      binding.dims = known->second;
    std::string_view kind = argument.value.describe(); // with its article
    listed.push_back(
        {formal.name.text, std::string(kind.substr(kind.find(' ') + 1)), argument.value.print()});
    context.frame->scope->define(formal.name.text, std::move(binding));
  }
  if (context.frame->caller)
    model.calledArguments.try_emplace(context.prefix(model.dims).text, std::move(listed));
  else
    model.arguments = std::move(listed);
}

Argument Components::argumentFor(const Formal &formal, const Arguments &arguments) {
  if (auto found = arguments.find(formal.name.text); found != arguments.end())
    return found->second;
  if (formal.defaultValue)
    return {eval(*formal.defaultValue), formal.loc};
  const Name &name = getName(*context.frame->decl);
  report(Code::ArgumentMissing, context.frame->caller ? context.frame->callSite : name.loc,
         "model `" + name.text + "` needs a value for `" + formal.name.text + "`")
      .note(formal.name.loc, "declared here, without a default")
      .help(context.frame->caller
                ? "call a model that states it: `model NAME = " + name.text + " { " +
                      formal.name.text + " = ... }`, or state it in the call"
                : "set it in the run: `model { " + formal.name.text + " = ... }`");
  return {{}, formal.loc};
}

/// Arguments of a model are known at compile time, so none has dimensions.
void Components::checkType(const Formal &formal, const Argument &argument) {
  elaboration.annotations.convert(argument.value, elaboration.annotations.getStated(formal.type),
                                  formal.type, argument.loc);
  if (formal.type.dims)
    report(Code::ExpectedTensor, formal.type.dims->loc, "an argument of a model has no dimensions")
        .help("a tensor of the data is an input: `input " + formal.name.text +
              "[...]` in the body");
}

// Calls

Symbol Components::findBody(const Symbol &callee) {
  const bool isModel = callee.decl->is<ModelDecl>() || callee.decl->is<ModelAliasDecl>();
  if (!isModel)
    return callee;
  std::optional<SpecifiedModel> model = specifyModel(callee, library, diags);
  return model ? model->base : Symbol{};
}

/// The dimensions of the data have the same names in a called model.
void Components::defineDataDims(Frame &callee) {
  const Frame *top = context.frame;
  while (top->caller)
    top = top->caller;
  for (const auto &[name, argument] : spec.sizes) {
    Binding *known = top->scope->findOwn(name);
    if (!known || !known->mayBeDim)
      continue;
    elaboration.dims.asDims(name, *known, argument.loc);
    callee.scope->define(name, *known);
  }
}

bool Components::bind(const Call &call, Frame &callee) {
  const size_t errorsBefore = diags.errorReports();
  std::optional<SpecifiedModel> called = specifyModel(call.callee.symbol, library, diags);
  if (!called || !checkArguments(*called, diags) || diags.errorReports() != errorsBefore)
    return false;
  defineDataDims(callee);
  Arguments arguments = called->arguments;
  std::set<std::string> given;
  for (const Actual &actual : call.args) {
    if (actual.kind == ArgKind::Keyword && !given.insert(actual.name->text).second) {
      report(Code::BadArgument, actual.loc,
             "`" + call.name + "` is given `" + actual.name->text + "` twice");
      return false;
    }
    if (!readActual(call, actual, *called, arguments, callee))
      return false;
  }
  Frame *caller = std::exchange(context.frame, &callee);
  defineArguments(called->base.decl->as<ModelDecl>()->formals, arguments);
  context.frame = caller;
  if (diags.errorReports() != errorsBefore)
    return false;
  record(call.callee.symbol, std::move(arguments), callee);
  return true;
}

/// Records a call for `weights` and `config` declarations.
void Components::record(const Symbol &called, Arguments arguments, Frame &callee) {
  if (!spec.calledModels)
    return;
  Frame *caller = std::exchange(context.frame, &callee);
  const std::string prefix = context.prefix(model.dims).text;
  context.frame = caller;
  const bool isKnown = // by another iteration of a repeat
      std::any_of(spec.calledModels->begin(), spec.calledModels->end(),
                  [&](const CalledModel &other) { return other.prefix == prefix; });
  if (!isKnown)
    spec.calledModels->push_back({prefix, called, std::move(arguments)});
}

/// Reads an argument of the call: of the model, an input, or a dimension of the data.
bool Components::readActual(const Call &call, const Actual &actual, const SpecifiedModel &called,
                            Arguments &arguments, Frame &callee) {
  if (actual.kind != ArgKind::Keyword || !(actual.value || actual.arg->value)) {
    report(Code::BadArgument, actual.loc,
           "a call of a model gives arguments and inputs by name: `" + call.name +
               "(tokens = ...)`");
    return false;
  }
  const std::string &name = actual.name->text;
  const bool isArgument = isFormal(*getFormals(*called.base.decl), name);
  if (Callables::isCallOption(actual) && !isArgument)
    return elaboration.callables.readCallOption(actual, callee);
  if (spec.sizes.count(name) && !isArgument)
    return renameDataDim(actual, callee);
  const Value value = actual.value ? *actual.value : eval(*actual.arg->value);
  if (value.isError())
    return false;
  if (!isArgument) {
    callee.component->inputs.insert({name, {value, actual.loc}});
    return true;
  }
  std::vector<DimId> dims;
  if (actual.arg->value && !actual.value)
    if (const DimId dim = elaboration.dims.namedIn(*actual.arg->value); dim != noDim)
      dims = {dim};
  arguments[name] = {value, actual.loc, std::move(dims)};
  return true;
}

/// `seq = places`: samples, or positions, of the called model are along another dimension.
bool Components::renameDataDim(const Actual &actual, Frame &callee) {
  auto *name = actual.arg->value ? actual.arg->value->as<NameExpr>() : nullptr;
  if (!name) {
    report(Code::ExpectedTensor, actual.loc,
           "`" + actual.name->text + "` is a dimension, so a dimension is needed here");
    return false;
  }
  const std::optional<DimId> dim = resolveDim(name->path);
  if (!dim)
    return false;
  callee.scope->define(
      actual.name->text,
      {Value::ofInt(model.dims[*dim].size), {*dim}, true, actual.loc, "dimension of the data"});
  return true;
}

// Inputs and outputs

bool Components::isAtTopOfModel() const {
  return context.frame->decl->is<ModelDecl>() &&
         std::none_of(context.loops.begin(), context.loops.end(),
                      [&](const Loop &loop) { return loop.frame == context.frame; });
}

/// The value that the call of the current model gives; an Error value after a report.
std::optional<Value> Components::takeGiven(const InputStmt &stmt, const TensorType &type) {
  Component *component = context.frame->component;
  auto given = component ? component->inputs.extract(stmt.name.text)
                         : decltype(component->inputs)::node_type();
  if (given.empty())
    return std::nullopt;
  const auto &[value, loc] = given.mapped();
  if (!expectTensor(value, loc, ("the input `" + stmt.name.text + "`").c_str()))
    return Value();
  if (!getTensorType(value).dims.sameDims(type.dims)) {
    report(Code::ArgumentDimensionsDiffer, loc,
           "the input `" + stmt.name.text + "` has " + print(type.dims) + ", but this has " +
               print(getTensorType(value).dims))
        .note(stmt.name.loc, "declared here");
    return Value();
  }
  return elaboration.annotations.convert(value, elaboration.annotations.getStated(stmt.type),
                                         stmt.type, loc);
}

Value Components::input(const InputStmt &stmt, const TensorType &type) {
  if (std::optional<Value> given = takeGiven(stmt, type))
    return *given;
  const std::string &name = stmt.name.text;
  if (auto known = inputs.find(name); known != inputs.end()) {
    const bool isTwice = known->second.frame == context.frame->id;
    const bool isLike = known->second.value.isTensor() &&
                        getTensorType(known->second.value).dtype == type.dtype &&
                        getTensorType(known->second.value).dims.sameDims(type.dims);
    if (isLike && !isTwice)
      return known->second.value;
    report(Code::Redeclared, stmt.name.loc,
           isTwice ? "two inputs are called `" + name + "`"
                   : "two inputs are called `" + name + "`, with different types")
        .note(known->second.loc, "the first is here");
    return isTwice ? known->second.value : Value();
  }
  if (!context.loops.empty()) {
    report(Code::MisplacedStatement, context.frame->callSite,
           "a model that a repeat calls has no inputs of its own: `" + name + "`")
        .note(stmt.name.loc, "the input is declared here")
        .help("give it: `" + name + " = ...`");
    return {};
  }
  context.variable = name;
  Op op(OpKind::Input);
  op.index = static_cast<uint32_t>(model.inputs.size());
  model.inputs.push_back({name, type, stmt.name.loc});
  Value value = elaboration.recorder.append(std::move(op), type, stmt.name.loc);
  context.variable.clear();
  inputs[name] = {value, context.frame->id, stmt.name.loc};
  return value;
}

/// Reports values for inputs that the called model does not have.
bool Components::reportRestOfInputs(const Call &call, const Frame &callee) {
  for (const auto &[name, given] : callee.component->inputs) {
    std::vector<std::string> names;
    for (const Formal &formal : *getFormals(*callee.decl))
      names.push_back(formal.name.text);
    Diagnostic &diag = report(Code::BadArgument, given.second,
                              "`" + call.name + "` has no argument and no input `" + name + "`");
    diag.note(getName(*callee.decl).loc, "its arguments are " + listNames(names));
    if (std::string near = nearestName(name, names); !near.empty())
      diag.help("did you mean `" + near + "`?");
  }
  return !callee.component->inputs.empty();
}

void Components::exposeDims(const Value &result, Location at) {
  for (const Value &output : result.elements)
    exposeDims(output, at);
  if (!result.isTensor())
    return;
  for (DimId dim : getTensorType(result).dims) {
    const Dim &info = model.dims[dim];
    if (!context.frame->scope->find(info.name))
      context.frame->scope->define(info.name,
                                   {Value::ofInt(info.size), {dim}, true, at, "dimension"});
  }
}

/// The dimensions that the arguments have become belong to the next call, too.
void Components::keepDims(const Frame &callee) {
  for (const Formal &formal : *getFormals(*callee.decl))
    if (const Binding *binding = callee.scope->findOwn(formal.name.text);
        binding && binding->mayBeDim && !binding->dims.empty())
      dimsOfArguments.try_emplace(makeKey(formal.name.text, *binding), binding->dims);
}

Value Components::collectOutputs(const Call &call, Frame &callee) {
  keepDims(callee);
  if (callee.hasErroneousParameter || reportRestOfInputs(call, callee))
    return {};
  const std::vector<Output> &outputs = callee.component->outputs;
  if (outputs.empty()) {
    report(Code::NoResult, call.loc,
           "model `" + getName(*callee.decl).text + "` has no outputs, so a call has no result");
    return {};
  }
  std::vector<Value> values;
  for (const Output &output : outputs)
    values.push_back(Value::ofTensor(output.value));
  return values.size() == 1 ? values[0] : Value::ofList(std::move(values));
}

} // namespace titan::sema
