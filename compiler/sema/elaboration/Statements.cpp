#include "compiler/sema/elaboration/BodyNames.h"
#include "compiler/sema/elaboration/Elaboration.h"

#include <algorithm>
#include <utility>

namespace titan::sema {

using namespace syntax;

void Statements::elaborate(const Body &body) {
  for (const StmtPtr &stmt : body.stmts) {
    if (context.frame->hasErroneousParameter)
      return;
    if (context.frame->returned) {
      report(Code::CodeAfterReturn, stmt->loc, "statements after `return` are unreachable");
      return;
    }
    const size_t before = unhandled();
    statement(*stmt);
    if (unhandled() != before)
      defineDimsAfterAs(*stmt);
    if (spec.tolerant && unhandled() != before) {
      forget(*stmt);
      handled += unhandled() - before;
    }
  }
}

/// Defines the dimensions after `as` in an erroneous statement as errors, so one error gives one
/// message.
void Statements::defineDimsAfterAs(const Stmt &stmt) {
  if (!getBodies(stmt).empty())
    return; // the statements of its bodies define them
  for (const Name &name : namesAfterAs(diags.sourceManager(), stmt.loc))
    if (!lookup(name))
      context.frame->scope->define(name.text, {{}, {}, true, name.loc, "dimension"});
}

/// Marks the names that a statement defines or assigns as unknown.
void Statements::forget(const Stmt &stmt) {
  for (const Name &name : definedNames(stmt))
    context.frame->scope->define(name.text, {{}, {}, stmt.is<DimsStmt>(), name.loc});
  std::vector<Name> assigned;
  if (auto *assign = stmt.as<AssignStmt>())
    assigned = assign->targets;
  for (const Body *body : getBodies(stmt))
    for (const Name &name : assignedNames(*body))
      assigned.push_back(name);
  for (const Name &name : assigned)
    if (Binding *known = lookup(name))
      known->value = {};
}

void Statements::statement(const Stmt &stmt) {
  if (!belongsHere(stmt))
    return;
  switch (stmt.kind) {
  case StmtKind::Dims:
    return dims(*stmt.as<DimsStmt>());
  case StmtKind::Param:
    return elaboration.parameters.declare(*stmt.as<ParamStmt>());
  case StmtKind::Update:
    return elaboration.buffers.update(*stmt.as<UpdateStmt>());
  case StmtKind::Loss:
    return elaboration.losses.add(*stmt.as<LossStmt>());
  case StmtKind::Metric:
    return elaboration.losses.add(*stmt.as<MetricStmt>());
  case StmtKind::State:
    return state(*stmt.as<StateStmt>());
  case StmtKind::Option:
    return option(*stmt.as<OptionStmt>());
  case StmtKind::Input:
    return input(*stmt.as<InputStmt>());
  case StmtKind::Output:
    return output(*stmt.as<OutputStmt>());
  case StmtKind::Let:
    return let(*stmt.as<LetStmt>());
  case StmtKind::Assign:
    return assign(*stmt.as<AssignStmt>());
  case StmtKind::Repeat:
    return elaboration.repeats.repeat(*stmt.as<RepeatStmt>());
  case StmtKind::If:
    return branch(*stmt.as<IfStmt>());
  case StmtKind::Precision:
    return precision(*stmt.as<PrecisionStmt>());
  case StmtKind::Return:
    break;
  }
  returnValues(*stmt.as<ReturnStmt>());
}

void Statements::returnValues(const ReturnStmt &stmt) {
  std::vector<Value> values;
  const Decl &decl = *context.frame->decl;
  if (decl.is<FnDecl>() || decl.is<OptimizerDecl>() || decl.is<ScheduleDecl>()) {
    for (const ExprPtr &value : stmt.values)
      values.push_back(eval(*value));
  } else {
    bool isBlock = context.frame->decl->is<BlockDecl>();
    report(Code::MisplacedStatement, stmt.loc,
           std::string("a ") + (isBlock ? "block" : "model") + " does not `return`")
        .help(isBlock ? "declare its results after its arguments, `-> y`, and define them in the "
                        "body: `let y = ...`"
                      : "declare its outputs: `output y[...] = ...`");
    values.emplace_back();
  }
  context.frame->returned = values.size() == 1 ? values[0] : Value::ofList(std::move(values));
}

void Statements::dims(const DimsStmt &stmt) {
  for (const DimsStmt::Item &item : stmt.items) {
    if (item.size) {
      Value size = eval(*item.size);
      if (!size.isError() && (!size.isInt() || size.integer < 1)) {
        report(Code::BadDimensionSize, item.size->loc,
               "the size of dimension `" + item.name.text + "` must be a positive integer, not " +
                   size.print());
        size = {};
      }
      std::vector<DimId> ids;
      if (size.isInt()) // one dimension for all iterations of a repeat around this block
        ids = {elaboration.dims.derivedDim(noDim, item.name.text, size.integer, item.loc,
                                           elaboration.dims.namedIn(*item.size))};
      context.frame->scope->define(item.name.text, {size, ids, true, item.name.loc, "dimension"});
      continue;
    }
    Binding *outer = findDimInCallers(item.name.text, context.frame);
    if (!outer) {
      elaboration.reports.unknownDim(item.name);
      context.frame->scope->define(item.name.text, {{}, {}, true, item.name.loc, "dimension"});
      continue;
    }
    elaboration.dims.asDims(item.name.text, *outer, item.loc);
    context.frame->scope->define(item.name.text, *outer);
  }
}

/// Whether the name of an output is new in the model; reports otherwise.
bool Statements::isNewOutput(const std::vector<Output> &known, const Name &name) {
  auto first = std::find_if(known.begin(), known.end(),
                            [&](const Output &other) { return other.name == name.text; });
  if (first == known.end())
    return true;
  report(Code::Redeclared, name.loc, "two outputs are called `" + name.text + "`")
      .note(first->loc, "the first is here");
  return false;
}

void Statements::input(const InputStmt &stmt) {
  Value value;
  std::optional<DType> dtype = spec.compute;
  if (stmt.type.dtype)
    dtype = elaboration.dims.resolveDType(*stmt.type.dtype);
  std::optional<DimSet> dims = stmt.type.dims ? elaboration.dims.dimSet(*stmt.type.dims) : DimSet();
  if (!elaboration.components.isAtTopOfModel())
    report(Code::MisplacedStatement, stmt.loc, "an input belongs to a model, outside of `repeat`");
  else if (dtype && dims)
    value = elaboration.components.input(stmt, {*dtype, *dims});
  context.frame->scope->define(stmt.name.text, {value, {}, false, stmt.name.loc, "input"});
}

void Statements::output(const OutputStmt &stmt) {
  if (!elaboration.components.isAtTopOfModel()) {
    report(Code::MisplacedStatement, stmt.loc, "an output belongs to a model, outside of `repeat`");
    return;
  }
  Component *component = context.frame->component;
  std::vector<Output> &outputs = component ? component->outputs : model.outputs;
  if (!isNewOutput(outputs, stmt.name))
    return;
  std::optional<DimSet> declared;
  definingValue = stmt.value ? stmt.value->loc : Location();
  if (stmt.type.dims)
    declared = elaboration.dims.dimSet(*stmt.type.dims);
  definingValue = {};
  const std::optional<DType> stated = elaboration.annotations.getStated(stmt.type);
  PrecisionRegion region(elaboration.recorder, elaboration.annotations.getComputeType(stated));
  context.variable = stmt.name.text;
  Value value;
  if (stmt.value) {
    value = eval(*stmt.value, declared ? &*declared : nullptr);
  } else if (Binding *known = lookup(stmt.name)) {
    value = known->value;
  } else {
    elaboration.reports.unknownName(stmt.name);
  }
  Location at = stmt.value ? stmt.value->loc : stmt.name.loc;
  if (!value.isError() && expectTensor(value, at, "an output")) {
    if (declared)
      value = elaboration.tensors.constrain(value, *declared, stmt.type.dims->loc, at);
    value = elaboration.annotations.convert(value, stated, stmt.type, at);
    // Readers of outputs see the declared order; values of a model have any order.
    Value stored = value;
    if (declared && value.isTensor() && !component && !(getTensorType(value).dims == *declared))
      stored = elaboration.recorder.append(Op(OpKind::Expand, {value.tensor}),
                                           {getTensorType(value).dtype, *declared}, at);
    if (stored.isTensor())
      outputs.push_back({stmt.name.text, stored.tensor, stmt.name.loc});
  }
  context.variable.clear();
  if (stmt.value)
    context.frame->scope->define(stmt.name.text, {value, {}, false, stmt.name.loc, "output"});
}

void Statements::let(const LetStmt &stmt) {
  if (stmt.targets.size() == 1)
    return letSingle(stmt.targets[0], *stmt.value);
  std::vector<std::optional<DType>> stated;
  std::optional<DType> widest; // of the floating-point types: one region computes all values
  for (const LetStmt::Target &target : stmt.targets) {
    stated.push_back(elaboration.annotations.getStated(target.type));
    if (stated.back() && isFloat(*stated.back()))
      widest = widest ? wider(*widest, *stated.back()) : stated.back();
  }
  PrecisionRegion region(elaboration.recorder, elaboration.annotations.getComputeType(widest));
  Value all = eval(*stmt.value);
  bool fits = all.kind == Value::Kind::List && all.elements.size() == stmt.targets.size();
  if (!fits && !all.isError())
    report(Code::ResultCount, stmt.value->loc,
           "this expression has " +
               (all.kind == Value::Kind::List ? std::to_string(all.elements.size()) + " values"
                                              : std::string("one value")) +
               ", but " + std::to_string(stmt.targets.size()) + " names are assigned");
  for (size_t i = 0; i < stmt.targets.size(); ++i)
    bindResult(stmt.targets[i], fits ? all.elements[i] : Value(), stated[i], stmt.value->loc);
}

/// Binds one of the several values of an expression.
void Statements::bindResult(const LetStmt::Target &target, Value value, std::optional<DType> stated,
                            Location at) {
  if (target.type.dims)
    if (std::optional<DimSet> declared = elaboration.dims.dimSet(*target.type.dims);
        declared && value.isTensor()) {
      std::string outer = std::exchange(context.variable, target.name.text);
      value = elaboration.tensors.constrain(value, *declared, target.type.dims->loc, at);
      context.variable = outer;
    }
  bindLet(target.name, elaboration.annotations.convert(value, stated, target.type, at));
}

void Statements::letSingle(const LetStmt::Target &target, const Expr &value) {
  std::string outerVariable = context.variable;
  context.variable = target.name.text;
  std::optional<DimSet> declared;
  definingValue = value.loc;
  if (target.type.dims)
    declared = elaboration.dims.dimSet(*target.type.dims);
  definingValue = {};
  const std::optional<DType> stated = elaboration.annotations.getStated(target.type);
  PrecisionRegion region(elaboration.recorder, elaboration.annotations.getComputeType(stated));
  declarationFailed = target.type.dims && !declared;
  Value result = eval(value, declared ? &*declared : nullptr);
  declarationFailed = false;
  if (target.type.dims && !result.isError()) {
    if (!expectTensor(result, value.loc, "a value with dimensions") || !declared)
      result = {};
    else
      result = elaboration.tensors.constrain(result, *declared, target.type.dims->loc, value.loc);
  }
  result = elaboration.annotations.convert(result, stated, target.type, value.loc);
  context.variable = outerVariable;
  bindLet(target.name, std::move(result));
}

void Statements::bindLet(const Name &name, Value value) {
  Binding *outer = lookup(name);
  if (!context.loops.empty() && outer && !context.frame->scope->findOwn(name.text) &&
      outer->value.isTensor())
    report(Code::LetHidesIterationArgument, name.loc,
           "this `let` defines a second `" + name.text + "` for the current iteration only")
        .note(outer->loc, "the outer value would not change")
        .help("to pass the new value to the next iteration, assign it without `let`");
  context.frame->scope->define(name.text, {std::move(value), {}, false, name.loc, "value"});
}

/// The first argument of the model that alone makes the condition true: `answers` of `answers or
/// packed`.
static const Name *findSwitch(const Expr &condition, const ModelDecl &decl) {
  if (auto *either = condition.as<BinaryExpr>(); either && either->op == BinaryOp::Or)
    return findSwitch(*either->lhs, decl);
  auto *name = condition.as<NameExpr>();
  const bool isArgument =
      name && name->path.isSimple() &&
      std::any_of(decl.formals.begin(), decl.formals.end(),
                  [&](const Formal &formal) { return formal.name.text == name->path.last().text; });
  return isArgument ? &name->path.last() : nullptr;
}

/// Notes inputs of a branch that an argument of the run's model would select, so that programs can
/// name the setting when their data have these inputs.
void Statements::noteAbsentInputs(const IfStmt::Branch &branch) {
  auto *decl = context.frame->decl->as<ModelDecl>();
  const Name *argument = decl && !context.frame->caller ? findSwitch(*branch.cond, *decl) : nullptr;
  for (const StmtPtr &stmt : branch.body.stmts)
    if (auto *input = stmt->as<InputStmt>(); input && argument)
      model.absentInputs.push_back({input->name.text, "model." + argument->text + "=true"});
}

void Statements::branch(const IfStmt &stmt) {
  for (const IfStmt::Branch &branch : stmt.branches) {
    std::optional<bool> truth = elaboration.expressions.condition(*branch.cond);
    if (!truth)
      return forget(stmt); // an argument may be wrong, which is reported where it is given
    if (*truth)
      return elaborate(branch.body);
    noteAbsentInputs(branch);
  }
  if (stmt.elseBody)
    elaborate(*stmt.elseBody);
}

/// Runs in f64 serve to verify numbers, so their precision regions are f64, too.
void Statements::precision(const PrecisionStmt &stmt) {
  std::optional<DType> dtype = elaboration.dims.resolveDType(stmt.type);
  if (dtype && !isFloat(*dtype))
    report(Code::PrecisionRegionType, stmt.type.loc,
           "operations cannot compute in " + stmt.type.text +
               ": a precision region is f32, f64 or bf16");
  bool isChanged = dtype && isFloat(*dtype) && spec.compute != DType::F64;
  PrecisionRegion region(elaboration.recorder,
                         isChanged ? *dtype : elaboration.recorder.computeType);
  elaborate(stmt.body);
}

} // namespace titan::sema
