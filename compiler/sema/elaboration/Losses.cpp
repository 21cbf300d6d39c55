#include "compiler/sema/elaboration/Elaboration.h"

#include <algorithm>
#include <utility>

namespace titan::sema {

using namespace syntax;

const Losses::Kind Losses::loss{"loss", &Model::losses};
const Losses::Kind Losses::metric{"metric", &Model::metrics};

DType Losses::computeType() const {
  return wider(elaboration.recorder.computeType, DType::F32);
}

Value Losses::evalLoss(const Expr &expr) {
  const DType dtype = computeType();
  PrecisionRegion region(elaboration.recorder, dtype);
  Value value = eval(expr);
  return value.isTensor()
             ? Value::ofTensor(elaboration.recorder.converted(value.tensor, dtype, expr.loc))
             : value;
}

bool Losses::isAllowedHere(const Kind &kind, Location at) {
  if (context.loops.empty() && context.frame->decl->is<ModelDecl>())
    return true;
  report(Code::MisplacedStatement, at,
         std::string("a ") + kind.word + " belongs to a model, outside of `repeat`")
      .help("accumulate its value (`total = total + ...`), or return it from the block");
  return false;
}

bool Losses::isNumber(const Value &value, Location at, const std::string &what) {
  const TensorType &type = getTensorType(value);
  if (!type.dims.empty()) {
    report(Code::LossNotScalar, at, what + " must be one number, but this has " + print(type.dims))
        .help("reduce it: `mean(x, over ...)`");
    return false;
  }
  if (isFloat(type.dtype))
    return true;
  report(Code::LossNotScalar, at,
         what + " must be a floating-point number, but this is " + spelling(type.dtype))
      .help("convert it with `float(x)`");
  return false;
}

bool Losses::isNew(const Kind &kind, const std::string &name, Location at) {
  const std::vector<Output> &others = model.*kind.list;
  auto other = std::find_if(others.begin(), others.end(),
                            [&](const Output &one) { return one.name == name; });
  if (other == others.end())
    return true;
  Diagnostic &diag = report(Code::LossTwice, at,
                            std::string("the model has a ") + kind.word +
                                (name.empty() ? "" : " `" + name + "`") + " already")
                         .note(other->loc, "the other one is here");
  if (name.empty())
    diag.help("name one of them, `loss NAME = ...`: the run minimises their sum");
  return false;
}

void Losses::add(const LossStmt &stmt) {
  add(loss, stmt.name.text, *stmt.value, stmt.loc);
}

void Losses::add(const AssignStmt &stmt) {
  add(loss, "", *stmt.value, stmt.loc);
}

void Losses::add(const MetricStmt &stmt) {
  add(metric, stmt.name.text, *stmt.value, stmt.loc);
}

void Losses::add(const Kind &kind, const std::string &name, const Expr &expr, Location at) {
  // Of a called model, only the named losses count, unless its results are constants.
  const bool isCalled = context.frame->component;
  if (isCalled && (&kind == &metric || name.empty() || context.isConstant))
    return;
  if (!isAllowedHere(kind, at))
    return;
  const std::string what = name.empty() ? "the loss" : kind.word + (" `" + name + "`");
  std::string outer = std::exchange(context.variable, name.empty() ? "loss" : name);
  Value value = evalLoss(expr);
  context.variable = std::move(outer);
  const std::string full = context.prefix(model.dims).text + name;
  if (expectTensor(value, expr.loc, what.c_str()) && isNew(kind, full, at) &&
      isNumber(value, expr.loc, what))
    (model.*kind.list).push_back({full, value.tensor, expr.loc});
}

void Losses::sum() {
  if (model.losses.empty())
    return;
  PrecisionRegion region(elaboration.recorder, computeType());
  std::string outer = std::exchange(context.variable, "loss");
  Value total = Value::ofTensor(model.losses.front().value);
  for (size_t i = 1; i < model.losses.size() && total.isTensor(); ++i) {
    const Output &next = model.losses[i];
    total = elaboration.tensors.elementwise("add", total, Value::ofTensor(next.value), next.loc,
                                            model.losses[i - 1].loc, next.loc);
  }
  context.variable = std::move(outer);
  if (total.isTensor())
    model.loss = total.tensor;
}

} // namespace titan::sema
