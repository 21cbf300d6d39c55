// Statements of bodies.
#include "compiler/sema/Elaborator.h"

#include <utility>

namespace titan::sema {

using namespace syntax;

void Elaborator::elaborate(const Body &body) {
  for (const StmtPtr &stmt : body.stmts) {
    if (frame->declaresWrongly)
      return;
    if (frame->returned) {
      report(Code::CodeAfterReturn, stmt->loc, "nothing after `return` is reached");
      return;
    }
    statement(*stmt);
  }
}

void Elaborator::statement(const Stmt &stmt) {
  switch (stmt.kind) {
  case StmtKind::Dims:
    return dims(*stmt.as<DimsStmt>());
  case StmtKind::Param:
    return param(*stmt.as<ParamStmt>());
  case StmtKind::Update:
    return update(*stmt.as<UpdateStmt>());
  case StmtKind::Input:
    return input(*stmt.as<InputStmt>());
  case StmtKind::Output:
    return output(*stmt.as<OutputStmt>());
  case StmtKind::Let:
    return let(*stmt.as<LetStmt>());
  case StmtKind::Assign:
    return assign(*stmt.as<AssignStmt>());
  case StmtKind::Repeat:
    return repeat(*stmt.as<RepeatStmt>());
  case StmtKind::If:
    return branch(*stmt.as<IfStmt>());
  case StmtKind::Island:
    return island(*stmt.as<IslandStmt>());
  case StmtKind::Return:
    break;
  }
  giveBack(*stmt.as<ReturnStmt>());
}

void Elaborator::giveBack(const ReturnStmt &stmt) {
  std::vector<Value> values;
  if (frame->decl->is<FnDecl>()) {
    for (const ExprPtr &value : stmt.values)
      values.push_back(eval(*value));
  } else {
    bool isBlock = frame->decl->is<BlockDecl>();
    report(Code::MisplacedStatement, stmt.loc,
           std::string("a ") + (isBlock ? "block" : "model") + " does not `return`")
        .help(isBlock ? "it names what it gives behind its arguments: `-> y`, which its body "
                        "defines by `let y = ...`"
                      : "name what it gives: `output y[...] = ...`");
    values.emplace_back();
  }
  frame->returned = values.size() == 1 ? values[0] : Value::ofList(std::move(values));
}

void Elaborator::dims(const DimsStmt &stmt) {
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
        ids = {derivedDim(noDim, item.name.text, size.integer, item.loc)};
      frame->scope->define(item.name.text, {size, ids, true, item.name.loc, "dimension"});
      continue;
    }
    Binding *outer = findDimInCallers(item.name.text, frame);
    if (!outer) {
      reportUnknownDim(item.name);
      frame->scope->define(item.name.text, {{}, {}, true, item.name.loc, "dimension"});
      continue;
    }
    asDims(item.name.text, *outer, item.loc);
    frame->scope->define(item.name.text, *outer);
  }
}

void Elaborator::input(const InputStmt &stmt) {
  Value value;
  std::optional<DType> dtype = spec.compute;
  if (stmt.type.dtype)
    dtype = dtypeOf(*stmt.type.dtype);
  std::optional<DimSet> dims = stmt.type.dims ? dimSet(*stmt.type.dims) : DimSet();
  if (!loops.empty() || !frame->decl->is<ModelDecl>()) {
    report(Code::MisplacedStatement, stmt.loc, "an input belongs to a model, outside of `repeat`");
  } else if (dtype && dims) {
    variable = stmt.name.text;
    Op op(OpKind::Input);
    op.index = static_cast<uint32_t>(model.inputs.size());
    TensorType type{*dtype, *dims};
    model.inputs.push_back({stmt.name.text, type, stmt.name.loc});
    value = append(std::move(op), type, stmt.name.loc);
    variable.clear();
  }
  frame->scope->define(stmt.name.text, {value, {}, false, stmt.name.loc, "input"});
}

void Elaborator::output(const OutputStmt &stmt) {
  if (!loops.empty() || !frame->decl->is<ModelDecl>()) {
    report(Code::MisplacedStatement, stmt.loc, "an output belongs to a model, outside of `repeat`");
    return;
  }
  std::optional<DimSet> declared;
  if (stmt.type.dims)
    declared = dimSet(*stmt.type.dims);
  variable = stmt.name.text;
  Value value;
  if (stmt.value) {
    value = eval(*stmt.value, declared ? &*declared : nullptr);
  } else if (Binding *known = lookup(stmt.name)) {
    value = known->value;
  } else {
    reportUnknownName(stmt.name, stmt.name.loc);
  }
  Location at = stmt.value ? stmt.value->loc : stmt.name.loc;
  if (!value.isError() && expectTensor(value, at, "an output")) {
    if (declared)
      value = anchor(value, *declared, stmt.type.dims->loc, at);
    if (value.isTensor())
      model.outputs.push_back({stmt.name.text, value.tensor, stmt.name.loc});
  }
  variable.clear();
  if (stmt.value)
    frame->scope->define(stmt.name.text, {value, {}, false, stmt.name.loc, "output"});
}

void Elaborator::let(const LetStmt &stmt) {
  if (stmt.targets.size() == 1)
    return letOne(stmt.targets[0], *stmt.value);
  Value all = eval(*stmt.value);
  bool fits = all.kind == Value::Kind::List && all.elements.size() == stmt.targets.size();
  if (!fits && !all.isError())
    report(Code::ResultCount, stmt.value->loc,
           "this gives " +
               (all.kind == Value::Kind::List ? std::to_string(all.elements.size()) + " values"
                                              : std::string("one value")) +
               ", but " + std::to_string(stmt.targets.size()) + " names take it");
  for (size_t i = 0; i < stmt.targets.size(); ++i) {
    const LetStmt::Target &target = stmt.targets[i];
    Value value = fits ? all.elements[i] : Value();
    if (target.type.dims)
      if (std::optional<DimSet> declared = dimSet(*target.type.dims);
          declared && value.isTensor()) {
        std::string outer = std::exchange(variable, target.name.text);
        value = anchor(value, *declared, target.type.dims->loc, stmt.value->loc);
        variable = outer;
      }
    bindLet(target.name, value);
  }
}

void Elaborator::letOne(const LetStmt::Target &target, const Expr &value) {
  std::string outerVariable = variable;
  variable = target.name.text;
  std::optional<DimSet> declared;
  if (target.type.dims)
    declared = dimSet(*target.type.dims);
  declarationFailed = target.type.dims && !declared;
  Value result = eval(value, declared ? &*declared : nullptr);
  declarationFailed = false;
  if (target.type.dims && !result.isError()) {
    if (!expectTensor(result, value.loc, "a value with dimensions") || !declared)
      result = {};
    else
      result = anchor(result, *declared, target.type.dims->loc, value.loc);
  }
  variable = outerVariable;
  bindLet(target.name, std::move(result));
}

void Elaborator::bindLet(const Name &name, Value value) {
  Binding *outer = lookup(name);
  if (!loops.empty() && outer && !frame->scope->findOwn(name.text) && outer->value.isTensor())
    report(Code::LetHidesCarried, name.loc,
           "this `let` makes a second `" + name.text + "` that ends with the iteration")
        .note(outer->loc, "the value of this one would stay the same")
        .help("to carry the new value on, assign it without `let`");
  frame->scope->define(name.text, {std::move(value), {}, false, name.loc, "value"});
}

void Elaborator::assign(const AssignStmt &stmt) {
  bool isModel = frame->decl && frame->decl->is<ModelDecl>();
  if (isModel && stmt.targets.size() == 1 && stmt.targets[0].text == "loss" &&
      !lookup(stmt.targets[0]))
    return setLoss(stmt);
  std::string outerVariable = variable;
  variable = stmt.targets[0].text;
  // What the name holds already declares the dimensions of its next value.
  std::optional<DimSet> declared;
  if (Binding *known = lookup(stmt.targets[0]); known && known->value.isTensor())
    declared = typeOf(known->value).dims;
  Value value = eval(*stmt.value, declared && stmt.targets.size() == 1 ? &*declared : nullptr);
  variable = outerVariable;
  if (stmt.targets.size() == 1)
    return assignTo(stmt.targets[0], value, stmt.value->loc);
  bool fits = value.kind == Value::Kind::List && value.elements.size() == stmt.targets.size();
  if (!fits && !value.isError())
    report(Code::ResultCount, stmt.value->loc,
           "this does not give the " + std::to_string(stmt.targets.size()) +
               " values that the names before `=` take");
  for (size_t i = 0; i < stmt.targets.size(); ++i)
    assignTo(stmt.targets[i], fits ? value.elements[i] : Value(), stmt.value->loc);
}

void Elaborator::assignTo(const Name &name, Value value, Location valueLoc) {
  Binding *binding = lookup(name);
  bool isResult = false;
  if (auto *fn = frame->decl ? frame->decl->as<FnDecl>() : nullptr)
    for (const Name &result : fn->results)
      isResult |= result.text == name.text;
  if (auto *block = frame->decl ? frame->decl->as<BlockDecl>() : nullptr)
    for (const Name &result : block->results)
      isResult |= result.text == name.text;
  if (!binding && isResult) {
    bindLet(name, std::move(value));
    return;
  }
  if (!binding) {
    Diagnostic &diag = reportUnknownName(name, name.loc);
    if (diag.remedy.empty() && !diag.fixIt)
      diag.help("a new name takes a `let`: `let " + name.text + " = ...`");
    return;
  }
  if (binding->value.isTensor() && refuseCallable(value, valueLoc))
    return;
  if (refuseAssignment(name, *binding))
    return;
  if (binding->value.isTensor() && !value.isTensor() && !value.isError()) {
    report(Code::AssignmentChangesType, valueLoc,
           "`" + name.text + "` is a tensor, but this is " + value.describe())
        .note(binding->loc, "`" + name.text + "` was defined here")
        .help("a new value of another kind takes a `let`");
    return;
  }
  if (binding->value.isTensor() && value.isTensor()) {
    DimSet before = typeOf(binding->value).dims, after = typeOf(value).dims;
    if (!before.sameDims(after)) {
      report(Code::AssignmentChangesType, valueLoc,
             "`" + name.text + "` has " + print(before) + ", but this has " + print(after))
          .note(binding->loc, "`" + name.text + "` was defined here")
          .help("a new value of other dimensions takes a `let`");
      return;
    }
    DType known = typeOf(binding->value).dtype, given = typeOf(value).dtype;
    if (!mayJoin(known, given)) {
      report(Code::AssignmentChangesType, valueLoc,
             "`" + name.text + "` is " + spelling(known) + ", but this is " + spelling(given))
          .note(binding->loc, "`" + name.text + "` was defined here")
          .help("a new value of another element type takes a `let`");
      return;
    }
    value = Value::ofTensor(converted(value.tensor, known, valueLoc));
  }
  binding->value = std::move(value);
}

void Elaborator::setLoss(const AssignStmt &stmt) {
  variable = "loss";
  // The mean of many values of few digits has few digits: what `loss =` says is an island.
  DType outer = computeType;
  computeType = wider(outer, DType::F32);
  Value value = eval(*stmt.value);
  if (value.isTensor())
    value = Value::ofTensor(converted(value.tensor, computeType, stmt.value->loc));
  computeType = outer;
  variable.clear();
  if (!expectTensor(value, stmt.value->loc, "the loss"))
    return;
  if (model.loss) {
    report(Code::LossTwice, stmt.loc, "the model has a loss already")
        .note(model.values[*model.loss].loc, "the other one is here");
    return;
  }
  const TensorType &type = typeOf(value);
  if (type.dims.empty() && !isFloat(type.dtype)) {
    report(Code::LossNotScalar, stmt.value->loc,
           std::string("the loss must be a floating-point number, but this is ") +
               spelling(type.dtype))
        .help("convert it with `float(x)`; no gradient passes through integers");
    return;
  }
  if (!type.dims.empty()) {
    report(Code::LossNotScalar, stmt.value->loc,
           "the loss must be one number, but this has " + print(type.dims))
        .help("average it: `mean(x, over ...)`");
    return;
  }
  model.loss = value.tensor;
}

void Elaborator::branch(const IfStmt &stmt) {
  for (const IfStmt::Branch &branch : stmt.branches) {
    std::optional<bool> truth = condition(*branch.cond);
    if (!truth)
      return;
    if (*truth)
      return elaborate(branch.body);
  }
  if (stmt.elseBody)
    elaborate(*stmt.elseBody);
}

/// A run in f64 is there to check numbers with, so it is f64 in islands too.
void Elaborator::island(const IslandStmt &stmt) {
  std::optional<DType> dtype = dtypeOf(stmt.type);
  if (dtype && !isFloat(*dtype))
    report(Code::IslandType, stmt.type.loc,
           "nothing can be computed in " + stmt.type.text + ": an island is f32, f64 or bf16");
  DType outer = computeType;
  if (dtype && isFloat(*dtype) && spec.compute != DType::F64)
    computeType = *dtype;
  elaborate(stmt.body);
  computeType = outer;
}

} // namespace titan::sema
