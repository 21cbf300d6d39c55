#include "compiler/sema/elaboration/CallArgs.h"
#include "compiler/sema/modules/Suggest.h"

#include <cmath>

namespace titan::sema {

using namespace syntax;

namespace {

double compute(const std::string &function, double x) {
  if (function == "exp")
    return std::exp(x);
  if (function == "log")
    return std::log(x);
  if (function == "sqrt")
    return std::sqrt(x);
  if (function == "rsqrt")
    return 1 / std::sqrt(x);
  if (function == "tanh")
    return std::tanh(x);
  if (function == "erf")
    return std::erf(x);
  if (function == "sin")
    return std::sin(x);
  if (function == "cos")
    return std::cos(x);
  if (function == "floor")
    return std::floor(x);
  return 1 / (1 + std::exp(-x)); // sigmoid
}

} // namespace

const std::map<std::string, Builtins::Builtin> &Builtins::table() {
  static const std::map<std::string, Builtin> table = {
      {"exp", &Builtins::unary},
      {"log", &Builtins::unary},
      {"sqrt", &Builtins::unary},
      {"rsqrt", &Builtins::unary},
      {"tanh", &Builtins::unary},
      {"sigmoid", &Builtins::unary},
      {"erf", &Builtins::unary},
      {"sin", &Builtins::unary},
      {"cos", &Builtins::unary},
      {"floor", &Builtins::unary},
      {"float", &Builtins::toFloat},
      {"int", &Builtins::toInt},
      {"max", &Builtins::maxMin},
      {"min", &Builtins::maxMin},
      {"sum", &Builtins::reduce},
      {"mean", &Builtins::mean},
      {"where", &Builtins::where},
      {"index", &Builtins::index},
      {"contains", &Builtins::contains},
      {"map", &Builtins::map},
      {"range", &Builtins::range},
      {"element", &Builtins::element},
      {"length", &Builtins::length},
      {"stop_gradient", &Builtins::stopGradient},
      {"expand", &Builtins::expand},
      {"rotary", &Builtins::rotary},
      {"attention", &Builtins::attention},
      {"window", &Builtins::window},
      {"document", &Builtins::document},
      {"cumulative_sum", &Builtins::cumulativeSum},
      {"cumulative_count", &Builtins::cumulativeCount},
      {"scatter", &Builtins::scatter},
      {"random_uniform", &Builtins::random},
      {"random_normal", &Builtins::random},
      {"dropout", &Builtins::dropout},
      {"input_dropout", &Builtins::inputDropout},
  };
  return table;
}

Value Builtins::call(const Call &call) {
  CallArgs args(elaboration, call);
  return args.hasErrors() ? Value() : (this->*table().at(call.callee.builtin))(args);
}

Value Builtins::unary(CallArgs &args) {
  if (!args.expect(1, 1, /*over=*/false, /*along=*/false))
    return {};
  std::string function = args.name();
  auto ofNumber = [&](const Value &x) -> Value {
    double result = compute(function, x.number());
    // The greatest integer below may be the size of a dimension.
    if (function == "floor" && std::abs(result) <= 0x1p53)
      return Value::ofInt(static_cast<int64_t>(result));
    if (std::isfinite(result))
      return Value::ofFloat(result);
    report(Code::BadOperands, args.getLoc(0),
           "`" + function + "` of " + x.print() + " is not a finite number");
    return {};
  };
  if (args[0].isNumber())
    return ofNumber(args[0]);
  if (args[0].isNumberList())
    return mapped(args[0], ofNumber);
  if (!expectTensor(args[0], args.getLoc(0), ("the argument of `" + function + "`").c_str()))
    return {};
  return elaboration.tensors.unary(function.c_str(), args[0], args.loc());
}

/// `float(x)`: converts integers and booleans to the compute type.
Value Builtins::toFloat(CallArgs &args) {
  if (!args.expect(1, 1, /*over=*/false, /*along=*/false))
    return {};
  if (args[0].isNumber())
    return Value::ofFloat(args[0].number());
  if (!expectTensor(args[0], args.getLoc(0), "the argument of `float`"))
    return {};
  const TensorType type = getTensorType(args[0]);
  if (isFloat(type.dtype)) {
    report(Code::DTypeMismatch, args.getLoc(0),
           std::string("`float` converts int and bool, but this is ") + spelling(type.dtype))
        .help("leave it out; where the element type matters, compute in a precision region: `in "
              "f32 { ... }`");
    return {};
  }
  return emit(Op(OpKind::Cast, {args[0].tensor}), {elaboration.recorder.computeType, type.dims},
              args.loc());
}

/// `int(x)`: rounds numbers toward 0; booleans become 0 and 1.
Value Builtins::toInt(CallArgs &args) {
  if (!args.expect(1, 1, /*over=*/false, /*along=*/false))
    return {};
  if (args[0].isInt() || args[0].kind == Value::Kind::Bool)
    return Value::ofInt(args[0].integer);
  if (args[0].isNumber() && std::abs(args[0].real) <= 0x1p53)
    return Value::ofInt(static_cast<int64_t>(args[0].real));
  if (args[0].isNumber()) {
    report(Code::BadOperands, args.getLoc(0), "`int` of " + args[0].print() + " is not exact");
    return {};
  }
  if (!expectTensor(args[0], args.getLoc(0), "the argument of `int`"))
    return {};
  const TensorType type = getTensorType(args[0]);
  if (type.dtype == DType::I64) {
    report(Code::DTypeMismatch, args.getLoc(0), "`int` converts numbers and bool, but this is int")
        .help("leave it out");
    return {};
  }
  return emit(Op(OpKind::Cast, {args[0].tensor}), {DType::I64, type.dims}, args.loc());
}

Value Builtins::maxMin(CallArgs &args) {
  bool isMax = args.name() == "max";
  if (!args.over.empty())
    return reduce(args);
  if (args.count() == 1) {
    report(Code::BadArgument, args.loc(), "`" + args.name() + "` of one tensor needs `over`")
        .help("write `" + args.name() + "(x, over d)`, or give two values");
    return {};
  }
  if (!args.expect(2, 2, /*over=*/false, /*along=*/false))
    return {};
  auto ofNumbers = [&](const Value &a, const Value &b) {
    return (a.number() >= b.number()) == isMax ? a : b;
  };
  if (args[0].isNumber() && args[1].isNumber())
    return ofNumbers(args[0], args[1]);
  if (std::optional<Value> list =
          elaboration.arithmetic.zipped(args[0], args[1], args.loc(), ofNumbers))
    return *list;
  return elaboration.tensors.elementwise(isMax ? "maximum" : "minimum", args[0], args[1],
                                         args.loc(), args.getLoc(0), args.getLoc(1));
}

Value Builtins::reduce(CallArgs &args) {
  if (!args.expect(1, 1, /*over=*/true, /*along=*/false) ||
      !expectTensor(args[0], args.getLoc(0), ("the argument of `" + args.name() + "`").c_str()))
    return {};
  return elaboration.tensors.reduce(args.name().c_str(), args[0], args.over, args.loc());
}

Value Builtins::mean(CallArgs &args) {
  if (!args.expect(1, 1, /*over=*/true, /*along=*/false) ||
      !expectTensor(args[0], args.getLoc(0), "the argument of `mean`"))
    return {};
  Value operand = args[0];
  if (const TensorType type = getTensorType(operand); !isFloat(type.dtype))
    operand = emit(Op(OpKind::Cast, {operand.tensor}),
                   {elaboration.recorder.computeType, type.dims}, args.loc());
  double count = 1;
  for (DimId id : args.over)
    count *= static_cast<double>(model.dims[id].size);
  Value total = elaboration.tensors.reduce("sum", operand, args.over, args.loc());
  if (total.isError())
    return {};
  return elaboration.tensors.elementwise("mul", total, Value::ofFloat(1 / count), args.loc(),
                                         args.getLoc(0), args.loc());
}

Value Builtins::index(CallArgs &args) {
  if (!args.expect(1, 1, /*over=*/false, /*along=*/false))
    return {};
  std::optional<DimId> dim = args.dim(0);
  if (!dim)
    return {};
  Op op(OpKind::Iota);
  op.dims = {*dim};
  return emit(std::move(op), {DType::I64, {*dim}}, args.loc());
}

Value Builtins::stopGradient(CallArgs &args) {
  if (!args.expect(1, 1, /*over=*/false, /*along=*/false) ||
      !expectTensor(args[0], args.getLoc(0), "the argument of `stop_gradient`"))
    return {};
  return emit(Op(OpKind::StopGradient, {args[0].tensor}), getTensorType(args[0]), args.loc());
}

Value Builtins::expand(CallArgs &args) {
  if (!args.expect(2, 8, /*over=*/false, /*along=*/false) ||
      !expectTensor(args[0], args.getLoc(0), "the first argument of `expand`"))
    return {};
  TensorType type = getTensorType(args[0]);
  for (size_t i = 1; i < args.count(); ++i) {
    std::optional<DimId> dim = args.dim(i);
    if (!dim)
      return {};
    if (!type.dims.insert(*dim)) {
      report(Code::DimensionTwice, args.getLoc(i),
             "the tensor has `" + model.dims[*dim].name + "` already");
      return {};
    }
  }
  return emit(Op(OpKind::Expand, {args[0].tensor}), type, args.loc());
}

} // namespace titan::sema
