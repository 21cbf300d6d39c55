// Emits scalar functions as statements.

#include "compiler/emission/ScalarSteps.h"

#include "compiler/emission/FunctionEmitter.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/Support/Views.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

std::string emission::getType(Value value) {
  return getRegisterType(cast<NamedTensorType>(value.getType()).getElementType());
}

bool emission::isNarrow(Value value) {
  return cast<NamedTensorType>(value.getType()).getElementType().isBF16();
}

bool emission::isExact(Operation *op) {
  if (auto convert = dyn_cast<CastOp>(op)) {
    Type from = convert.getInput().getType().getElementType();
    return from.isBF16() || from.isInteger(1);
  }
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getKind() != dist::ReductionKind::Sum;
  // A scatter of a row is one-hot.
  return op->hasTrait<Exact>() || isa<ScatterOp>(op);
}

StringRef emission::stripParentheses(StringRef text) {
  if (!text.starts_with("(") || !text.ends_with(")"))
    return text;
  int depth = 0;
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0)
      return text;
  }
  return text.drop_front().drop_back();
}

void emission::emitSteps(ScalarFunctionOp function, Expressions &known,
                         llvm::function_ref<std::string(Value, StringRef)> define,
                         NamedSteps named) {
  for (Operation *step : function.getSteps()) {
    Value result = step->getResult(0);
    SmallVector<std::string> in = llvm::map_to_vector(
        step->getOperands(), [&](Value operand) { return known.lookup(operand); });
    std::string expression =
        cast<ScalarOpInterface>(step).getElementExpression(in, 0, getScalarType(step));
    if (isNarrow(result) && !isExact(step))
      expression = ("float(bf16(" + stripParentheses(expression) + "))").str();
    bool isInline = isa<ConstantOp>(step) || (named == NamedSteps::Long && result.hasOneUse() &&
                                              expression.size() < kMaxInlineLength);
    known[result] = isInline ? expression : define(result, expression);
  }
}

void emission::emitHostFunction(ScalarFunctionOp function, StringRef name, Writer &out) {
  NameScope names;
  names.reserve("x");
  Expressions known;
  for (BlockArgument argument : function.getBody().getArguments())
    known[argument] = "x[" + std::to_string(argument.getArgNumber()) + "]";
  out.open("double " + name + "(const double *x)");
  emitSteps(function, known, [&](Value value, StringRef expression) {
    std::string constant = names.pick(ir::getSourceName(value));
    out.line("const " + getType(value) + " " + constant + " = " + stripParentheses(expression) +
             ";");
    return constant;
  });
  out.line("return " + stripParentheses(known.lookup(function.getYield().getValues().front())) +
           ";");
  out.close();
  out.blank();
}
