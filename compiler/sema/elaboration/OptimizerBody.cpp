// The body of an optimizer: what it takes, keeps and gives.
#include "compiler/sema/elaboration/Elaboration.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

/// Whether a statement may stand in the body at hand; reports otherwise.
bool Statements::belongsHere(const Stmt &stmt) {
  const bool isOptimizer = context.frame->decl && context.frame->decl->is<OptimizerDecl>();
  const bool isOptimizers = stmt.is<StateStmt>() || stmt.is<OptionStmt>();
  if (isOptimizers && !isOptimizer) {
    report(Code::MisplacedStatement, stmt.loc,
           std::string(stmt.is<StateStmt>() ? "a state" : "an option") + " belongs to an optimizer")
        .help(stmt.is<StateStmt>() ? "a tensor that a model keeps is a `buffer`"
                                   : "an argument of a model has its default in parentheses: "
                                     "`model M(layers = 4)`");
    return false;
  }
  bool isForeign = stmt.is<ParamStmt>() || stmt.is<UpdateStmt>() || stmt.is<LossStmt>() ||
                   stmt.is<InputStmt>() || stmt.is<OutputStmt>() || stmt.is<RepeatStmt>();
  if (isOptimizer && isForeign) {
    report(Code::MisplacedStatement, stmt.loc, "an optimizer has no statements of this kind")
        .help("it has `option`, `state`, `let`, `if`, `in`, assignments and `return`");
    return false;
  }
  return true;
}

/// The options were set, or have their defaults, before the body is read.
void Statements::option(const OptionStmt &stmt) {
  if (context.frame->scope->findOwn(stmt.name.text)) {
    report(Code::Redeclared, stmt.name.loc, "`" + stmt.name.text + "` is declared twice")
        .note(context.frame->scope->findOwn(stmt.name.text)->loc, "the first declaration is here");
    return;
  }
  auto given = spec.options.find(stmt.name.text);
  if (given == spec.options.end()) {
    report(Code::MisplacedStatement, stmt.loc, "an option is declared whatever the others are")
        .help("move it out of the `if`");
    return;
  }
  context.frame->scope->define(stmt.name.text, {given->second, {}, false, stmt.name.loc, "option"});
}

/// One more input, of the parameter's type. Its last value in the body is what is kept.
void Statements::state(const StateStmt &stmt) {
  for (size_t i = 0; i < model.inputs.size(); ++i)
    if (model.inputs[i].name == stmt.name.text) {
      report(Code::Redeclared, stmt.name.loc, "`" + stmt.name.text + "` is declared twice")
          .note(model.inputs[i].loc, "the first declaration is here");
      return;
    }
  optimizerInput(stmt.name, model.inputs.front().type, "state");
}

void Statements::optimizerInput(const Name &name, const TensorType &type, const char *what) {
  context.variable = name.text;
  Op op(OpKind::Input);
  op.index = static_cast<int64_t>(model.inputs.size());
  model.inputs.push_back({name.text, type, name.loc});
  Value value = elaboration.recorder.append(std::move(op), type, name.loc);
  context.variable.clear();
  context.frame->scope->define(name.text, {value, {}, false, name.loc, what});
}

/// A result of an optimizer: of the dimensions of what it replaces.
void Statements::optimizerOutput(const Value &value, const Input &replaced, Location at,
                                 const std::string &what) {
  if (value.isError())
    return;
  if (!value.isTensor() || !mayJoin(typeOf(value).dtype, replaced.type.dtype)) {
    report(Code::AssignmentChangesType, at,
           what + " is " + value.describe() + ", not a tensor of numbers");
    return;
  }
  if (!typeOf(value).dims.sameDims(replaced.type.dims)) {
    report(Code::AssignmentChangesType, at,
           what + " has " + print(typeOf(value).dims) + ", but the parameter has " +
               print(replaced.type.dims));
    return;
  }
  model.outputs.push_back(
      {replaced.name, elaboration.recorder.converted(value.tensor, replaced.type.dtype, at), at});
}

void Statements::optimizer(const OptimizerDecl &decl, const TensorType &parameter) {
  const std::vector<Formal> &formals = decl.formals;
  auto isPlain = [](const Formal &formal) {
    return formal.kind == FormalKind::Value && !formal.defaultValue && !formal.type.dims &&
           !formal.type.dtype;
  };
  if (formals.size() < 2 || formals.size() > optimizerArguments ||
      !std::all_of(formals.begin(), formals.end(), isPlain)) {
    report(Code::BadArgument, decl.name.loc,
           "optimizer `" + decl.name.text +
               "` takes names for a parameter, its gradient, the learning rate and the number of "
               "the step, in this order; the last ones may be missing")
        .help("write `optimizer " + decl.name.text +
              "(p, g, lr, step)`; what a run may set is an `option` in the body");
    return;
  }
  for (size_t i = 0; i < formals.size(); ++i)
    optimizerInput(formals[i].name, i < 2 ? parameter : TensorType{parameter.dtype, {}},
                   "argument");
  elaborate(decl.body);
  if (!context.frame->returned) {
    report(Code::NoResult, decl.name.loc, "optimizer `" + decl.name.text + "` returns nothing")
        .help("end its body in `return value`: the new parameter");
    return;
  }
  optimizerOutput(*context.frame->returned, model.inputs[0], decl.name.loc, "the new parameter");
  for (size_t i = formals.size(); i < model.inputs.size(); ++i)
    optimizerOutput(lookup({model.inputs[i].name, {}})->value, model.inputs[i], model.inputs[i].loc,
                    "the new `" + model.inputs[i].name + "`");
  for (const Parameter &made : model.parameters)
    report(Code::MisplacedStatement, made.loc, "an optimizer has no parameters")
        .help("what it keeps for a parameter is a `state`");
}

} // namespace titan::sema
