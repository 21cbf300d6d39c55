// The functions of the language itself. Everything that can be composed of these lies in stdlib/.
#include "compiler/sema/CallArgs.h"
#include "compiler/sema/Suggest.h"

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
  return 1 / (1 + std::exp(-x)); // sigmoid
}

} // namespace

const std::map<std::string, Elaborator::Builtin> &Elaborator::builtins() {
  static const std::map<std::string, Builtin> table = {
      {"exp", &Elaborator::builtinUnary},
      {"log", &Elaborator::builtinUnary},
      {"sqrt", &Elaborator::builtinUnary},
      {"rsqrt", &Elaborator::builtinUnary},
      {"tanh", &Elaborator::builtinUnary},
      {"sigmoid", &Elaborator::builtinUnary},
      {"erf", &Elaborator::builtinUnary},
      {"sin", &Elaborator::builtinUnary},
      {"cos", &Elaborator::builtinUnary},
      {"float", &Elaborator::builtinFloat},
      {"max", &Elaborator::builtinMaxMin},
      {"min", &Elaborator::builtinMaxMin},
      {"sum", &Elaborator::builtinReduce},
      {"mean", &Elaborator::builtinMean},
      {"where", &Elaborator::builtinWhere},
      {"index", &Elaborator::builtinIndex},
      {"range", &Elaborator::builtinRange},
      {"element", &Elaborator::builtinElement},
      {"length", &Elaborator::builtinLength},
      {"stop_gradient", &Elaborator::builtinStopGradient},
      {"expand", &Elaborator::builtinExpand},
      {"rotary", &Elaborator::builtinRotary},
      {"attention", &Elaborator::builtinAttention},
      {"window", &Elaborator::builtinWindow},
      {"document", &Elaborator::builtinDocument},
      {"cumulative_sum", &Elaborator::builtinCumulativeSum},
      {"scatter", &Elaborator::builtinScatter},
      {"random_uniform", &Elaborator::builtinRandom},
      {"random_normal", &Elaborator::builtinRandom},
      {"dropout", &Elaborator::builtinDropout},
  };
  return table;
}

Value Elaborator::builtinUnary(CallArgs &args) {
  if (!args.expect(1, 1, false, false))
    return {};
  std::string function = args.name();
  auto ofNumber = [&](const Value &x) -> Value {
    double result = compute(function, x.number());
    if (std::isfinite(result))
      return Value::ofFloat(result);
    report(Code::BadOperands, args.locOf(0),
           "`" + function + "` of " + x.print() + " is no finite number");
    return {};
  };
  if (args[0].isNumber())
    return ofNumber(args[0]);
  if (args[0].isNumberList())
    return mapped(args[0], ofNumber);
  if (!expectTensor(args[0], args.locOf(0), ("the argument of `" + function + "`").c_str()))
    return {};
  return unary(function.c_str(), args[0], args.loc());
}

/// `float(x)`: integers and truth values as what the model computes in.
Value Elaborator::builtinFloat(CallArgs &args) {
  if (!args.expect(1, 1, false, false))
    return {};
  if (args[0].isNumber())
    return Value::ofFloat(args[0].number());
  if (!expectTensor(args[0], args.locOf(0), "the argument of `float`"))
    return {};
  const TensorType type = typeOf(args[0]);
  if (isFloat(type.dtype)) {
    report(Code::DTypeMismatch, args.locOf(0),
           std::string("`float` converts int and bool, but this is ") + spelling(type.dtype))
        .help(
            "leave it out; where the element type matters, compute in an island: `in f32 { ... }`");
    return {};
  }
  return emit(Op(OpKind::Cast, {args[0].tensor}), {computeType, type.dims}, args.loc());
}

Value Elaborator::builtinMaxMin(CallArgs &args) {
  bool isMax = args.name() == "max";
  if (!args.over.empty())
    return builtinReduce(args);
  if (args.count() == 1) {
    report(Code::BadArgument, args.loc(), "`" + args.name() + "` of one tensor needs `over`")
        .help("write `" + args.name() + "(x, over d)`, or give two values");
    return {};
  }
  if (!args.expect(2, 2, false, false))
    return {};
  auto ofNumbers = [&](const Value &a, const Value &b) {
    return (a.number() >= b.number()) == isMax ? a : b;
  };
  if (args[0].isNumber() && args[1].isNumber())
    return ofNumbers(args[0], args[1]);
  if (std::optional<Value> list = zipped(args[0], args[1], args.loc(), ofNumbers))
    return *list;
  return elementwise(isMax ? "maximum" : "minimum", args[0], args[1], args.loc(), args.locOf(0),
                     args.locOf(1));
}

Value Elaborator::reduce(const char *word, const Value &operand, const std::vector<DimId> &over,
                         Location at) {
  TensorType type = typeOf(operand);
  DimSet removed;
  for (DimId id : over) {
    if (!type.dims.contains(id)) {
      report(Code::DimensionNotThere, at,
             "the tensor has no dimension `" + model.dims[id].name + "` to reduce over; it has " +
                 print(type.dims));
      return {};
    }
    removed.insert(id);
  }
  Op op(OpKind::Reduce, {operand.tensor});
  op.word = word;
  op.dims = over;
  return emit(std::move(op), {type.dtype, type.dims.without(removed)}, at);
}

Value Elaborator::builtinReduce(CallArgs &args) {
  if (!args.expect(1, 1, true, false) ||
      !expectTensor(args[0], args.locOf(0), ("the argument of `" + args.name() + "`").c_str()))
    return {};
  return reduce(args.name().c_str(), args[0], args.over, args.loc());
}

Value Elaborator::builtinMean(CallArgs &args) {
  if (!args.expect(1, 1, true, false) ||
      !expectTensor(args[0], args.locOf(0), "the argument of `mean`"))
    return {};
  double count = 1;
  for (DimId id : args.over)
    count *= static_cast<double>(model.dims[id].size);
  Value total = reduce("sum", args[0], args.over, args.loc());
  if (total.isError())
    return {};
  return elementwise("mul", total, Value::ofFloat(1 / count), args.loc(), args.locOf(0),
                     args.loc());
}

Value Elaborator::builtinIndex(CallArgs &args) {
  if (!args.expect(1, 1, false, false))
    return {};
  std::optional<DimId> dim = args.dim(0);
  if (!dim)
    return {};
  Op op(OpKind::Iota);
  op.dims = {*dim};
  return emit(std::move(op), {DType::I64, {*dim}}, args.loc());
}

Value Elaborator::builtinStopGradient(CallArgs &args) {
  if (!args.expect(1, 1, false, false) ||
      !expectTensor(args[0], args.locOf(0), "the argument of `stop_gradient`"))
    return {};
  return emit(Op(OpKind::StopGradient, {args[0].tensor}), typeOf(args[0]), args.loc());
}

Value Elaborator::builtinExpand(CallArgs &args) {
  if (!args.expect(2, 8, false, false) ||
      !expectTensor(args[0], args.locOf(0), "the first argument of `expand`"))
    return {};
  TensorType type = typeOf(args[0]);
  for (size_t i = 1; i < args.count(); ++i) {
    std::optional<DimId> dim = args.dim(i);
    if (!dim)
      return {};
    if (!type.dims.insert(*dim)) {
      report(Code::DimensionTwice, args.locOf(i),
             "the tensor has `" + model.dims[*dim].name + "` already");
      return {};
    }
  }
  return emit(Op(OpKind::Expand, {args[0].tensor}), type, args.loc());
}

Value Elaborator::builtinRotary(CallArgs &args) {
  if (!args.expect(1, 1, true, true, {"theta", "pairs", "frequencies"}) ||
      !expectTensor(args[0], args.locOf(0), "the argument of `rotary`"))
    return {};
  std::optional<double> theta = args.number("theta", 10000);
  std::optional<std::string> pairs = args.word("pairs", {"interleaved", "half"}, "interleaved");
  std::optional<std::vector<double>> frequencies = args.numbers("frequencies");
  if (!theta || !pairs || !frequencies || !args.expectOneOver())
    return {};
  if (!(*theta > 0)) {
    report(Code::BadArgument, args.keywordLoc("theta"),
           "`theta` must be positive, not " + Value::ofFloat(*theta).print());
    return {};
  }
  TensorType type = typeOf(args[0]);
  for (DimId id : {args.over[0], args.along[0]})
    if (!type.dims.contains(id)) {
      report(Code::DimensionNotThere, args.locOf(0),
             "`rotary` works on `" + model.dims[id].name + "`, but this has " + print(type.dims));
      return {};
    }
  const Dim &dim = model.dims[args.over[0]];
  if (dim.size % 2) {
    report(Code::BadDimensionSize, args.overLoc,
           "`rotary` turns pairs, but `" + dim.name + "` has the odd size " +
               std::to_string(dim.size));
    return {};
  }
  int64_t listed = static_cast<int64_t>(frequencies->size());
  if (listed && listed != dim.size / 2) {
    report(Code::BadArgument, args.keywordLoc("frequencies"),
           "`rotary` needs one frequency for each of the " + std::to_string(dim.size / 2) +
               " pairs of `" + dim.name + "`, here are " + std::to_string(listed));
    return {};
  }
  if (listed && args.keyword("theta")) {
    report(Code::BadArgument, args.keywordLoc("theta"),
           "`theta` has no effect where `frequencies` are given");
    return {};
  }
  Op op(OpKind::Rotary, {args[0].tensor});
  op.dims = {args.over[0], args.along[0]};
  op.word = *pairs;
  op.number = *theta;
  op.numbers = std::move(*frequencies);
  return emit(std::move(op), type, args.loc());
}

} // namespace titan::sema
