// Statements of an optimizer: arguments, options, states and results.
#include "compiler/sema/elaboration/Elaboration.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

/// Whether the declaration permits the statement; reports an error if not.
bool Statements::belongsHere(const Stmt &stmt) {
  const bool isOptimizer = context.frame->decl && context.frame->decl->is<OptimizerDecl>();
  const bool isSchedule = context.frame->decl && context.frame->decl->is<ScheduleDecl>();
  const bool isAllowed = isOptimizer || (isSchedule && stmt.is<OptionStmt>());
  if ((stmt.is<StateStmt>() || stmt.is<OptionStmt>()) && !isAllowed) {
    report(Code::MisplacedStatement, stmt.loc,
           stmt.is<StateStmt>() ? "a state belongs to an optimizer"
                                : "an option belongs to an optimizer or a schedule")
        .help(stmt.is<StateStmt>() ? "a tensor that a model keeps is a `buffer`"
                                   : "an argument of a model has its default in parentheses: "
                                     "`model M(layers = 4)`");
    return false;
  }
  bool isForbidden = stmt.is<ParamStmt>() || stmt.is<UpdateStmt>() || stmt.is<LossStmt>() ||
                     stmt.is<MetricStmt>() || stmt.is<InputStmt>() || stmt.is<OutputStmt>() ||
                     stmt.is<RepeatStmt>();
  if ((isOptimizer || isSchedule) && isForbidden) {
    report(Code::MisplacedStatement, stmt.loc,
           std::string(isOptimizer ? "an optimizer" : "a schedule") +
               " has no statements of this kind")
        .help(std::string("it has `option`, ") + (isOptimizer ? "`state`, " : "") +
              "`let`, `if`, `in`, assignments and `return`");
    return false;
  }
  return true;
}

/// Defines the option with its value, which the run determined before the elaboration.
void Statements::option(const OptionStmt &stmt) {
  if (context.frame->scope->findOwn(stmt.name.text)) {
    report(Code::Redeclared, stmt.name.loc, "`" + stmt.name.text + "` is declared twice")
        .note(context.frame->scope->findOwn(stmt.name.text)->loc, "the first declaration is here");
    return;
  }
  if (auto launch = spec.launchOptions.find(stmt.name.text); launch != spec.launchOptions.end()) {
    context.frame->scope->define(
        stmt.name.text,
        {launchOption(stmt.name, launch->second), {}, false, stmt.name.loc, "option"});
    return;
  }
  auto given = spec.options.find(stmt.name.text);
  if (given == spec.options.end()) {
    report(Code::MisplacedStatement, stmt.loc, "declarations of options are unconditional")
        .help("move it out of the `if`");
    return;
  }
  Value value = given->second;
  if (value.kind == Value::Kind::Word) // bodies compare words of options as strings
    value = Value::ofString(value.text);
  context.frame->scope->define(stmt.name.text, {value, {}, false, stmt.name.loc, "option"});
}

/// Adds an input with the dimensions of the statement, or else of the parameter. The last value of
/// the state's name in the body is the new state.
void Statements::state(const StateStmt &stmt) {
  for (size_t i = 0; i < model.inputs.size(); ++i)
    if (model.inputs[i].name == stmt.name.text) {
      report(Code::Redeclared, stmt.name.loc, "`" + stmt.name.text + "` is declared twice")
          .note(model.inputs[i].loc, "the first declaration is here");
      return;
    }
  TensorType type = model.inputs.front().type;
  if (stmt.dims) {
    std::optional<DimSet> dims = elaboration.dims.dimSet(*stmt.dims);
    if (!dims)
      return;
    if (dims->empty()) {
      report(Code::BadArgument, stmt.dims->loc, "a state has at least one dimension")
          .help("without brackets, it has the dimensions of the parameter");
      return;
    }
    type.dims = *dims;
  }
  optimizerInput(stmt.name, type, "state");
}

Value Statements::addInput(const Name &name, TensorType type) {
  context.variable = name.text;
  Op op(OpKind::Input);
  op.index = static_cast<int64_t>(model.inputs.size());
  model.inputs.push_back({name.text, type, name.loc});
  Value value = elaboration.recorder.append(std::move(op), type, name.loc);
  context.variable.clear();
  return value;
}

void Statements::optimizerInput(const Name &name, TensorType type, const char *what) {
  context.frame->scope->define(name.text, {addInput(name, type), {}, false, name.loc, what});
}

/// Adds a result. Its dimensions must be those of the replaced input.
void Statements::optimizerOutput(const Value &value, const Input &replaced, Location at,
                                 const std::string &what) {
  if (value.isError())
    return;
  if (!value.isTensor() || !mayJoin(getTensorType(value).dtype, replaced.type.dtype)) {
    report(Code::AssignmentChangesType, at,
           what + " is " + value.describe() + ", not a tensor of numbers");
    return;
  }
  if (!getTensorType(value).dims.sameDims(replaced.type.dims)) {
    report(Code::AssignmentChangesType, at,
           what + " has " + print(getTensorType(value).dims) + ", but the old value has " +
               print(replaced.type.dims));
    return;
  }
  model.outputs.push_back(
      {replaced.name, elaboration.recorder.converted(value.tensor, replaced.type.dtype, at), at});
}

/// Defines `over outputs, over inputs`, the dimensions of a matrix, or `over all`, those of any
/// parameter. In an expression, such a name is the number of elements of its dimensions.
bool Statements::optimizerDims(const OptimizerDecl &decl, const OptimizerRequest &request) {
  std::vector<const Formal *> groups;
  for (const Formal &formal : decl.formals)
    if (formal.kind == FormalKind::Over)
      groups.push_back(&formal);
  const bool isOfMatrices = groups.size() == 2;
  if (isOfMatrices && !request.matrix) {
    Diagnostic &diag =
        report(Code::NotAMatrix, request.loc,
               "parameter `" + request.name + "` is not a matrix, which optimizer `" +
                   decl.name.text + "` needs")
            .note(decl.name.loc, "a contraction with a matrix keeps the dimensions `over " +
                                     groups[0]->name.text + "` and sums those `over " +
                                     groups[1]->name.text + "`");
    for (const MatrixObstacle &obstacle : request.obstacles)
      diag.note(obstacle.loc, obstacle.text);
    diag.help("choose another optimizer in a group: `group \"" + request.name +
              "\" { optimizer = ... }`");
    return false;
  }
  std::vector<const DimSet *> sets = {&request.parameter.dims};
  if (isOfMatrices)
    sets = {&request.matrix->outputs, &request.matrix->inputs};
  for (size_t i = 0; i < groups.size(); ++i) {
    std::vector<DimId> ids(sets[i]->begin(), sets[i]->end());
    int64_t size = 1;
    for (DimId id : ids)
      size *= model.dims[id].size;
    context.frame->scope->define(groups[i]->name.text,
                                 {Value::ofInt(size), ids, true, groups[i]->name.loc, "dimension"});
  }
  return true;
}

void Statements::optimizer(const OptimizerDecl &decl, const OptimizerRequest &request) {
  const TensorType &parameter = request.parameter;
  std::vector<const Formal *> values;
  size_t groups = 0; // names after `over`; more than legal if there is an `along`
  for (const Formal &formal : decl.formals)
    if (formal.kind == FormalKind::Value)
      values.push_back(&formal);
    else
      groups += formal.kind == FormalKind::Over ? 1 : optimizerArguments;
  auto isPlain = [](const Formal *formal) {
    return !formal->defaultValue && !formal->type.dims && !formal->type.dtype;
  };
  if (values.size() < 2 || values.size() > optimizerArguments || groups > 2 ||
      !std::all_of(values.begin(), values.end(), isPlain)) {
    report(Code::BadArgument, decl.name.loc,
           "optimizer `" + decl.name.text +
               "` takes names for a parameter, its gradient, the learning rate and the number of "
               "the step, in this order; the last ones may be missing")
        .help(
            "write `optimizer " + decl.name.text +
            "(p, g, lr, step)`, with the dimensions of the parameter `(p, g, lr, step, over all)`, "
            "of matrices `(p, g, lr, step, over outputs, over inputs)`; declare settings of the "
            "run by `option` in the body");
    return;
  }
  if (!optimizerDims(decl, request))
    return;
  for (size_t i = 0; i < values.size(); ++i)
    optimizerInput(values[i]->name, i < 2 ? parameter : TensorType{parameter.dtype, {}},
                   "argument");
  elaborate(decl.body);
  if (!context.frame->returned) {
    report(Code::NoResult, decl.name.loc, "optimizer `" + decl.name.text + "` returns nothing")
        .help("end its body in `return value`: the new parameter");
    return;
  }
  optimizerOutput(*context.frame->returned, model.inputs[0], decl.name.loc, "the new parameter");
  for (size_t i = values.size(); i < model.inputs.size(); ++i)
    optimizerOutput(lookup({model.inputs[i].name, {}})->value, model.inputs[i], model.inputs[i].loc,
                    "the new `" + model.inputs[i].name + "`");
  for (const Parameter &made : model.parameters)
    report(Code::MisplacedStatement, made.loc, "an optimizer has no parameters")
        .help("declare optimizer state by `state`");
}

} // namespace titan::sema
