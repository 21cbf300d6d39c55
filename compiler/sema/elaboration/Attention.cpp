// `attention(q, k, v, over d, along s, mask = causal and window(64))` and the terms of masks.
#include "compiler/sema/elaboration/CallArgs.h"
#include "compiler/sema/elaboration/Masks.h"

#include <algorithm>
#include <cmath>

namespace titan::sema {

namespace {

class AttentionCall : ElaboratorComponent {
public:
  AttentionCall(Elaboration &elaboration, CallArgs &args)
      : ElaboratorComponent(elaboration), args(args) {}
  Value run();

private:
  bool check();
  std::optional<Mask> mask();
  std::optional<double> softCap();
  bool addDocuments(const Mask &mask, Op &op);
  Value addSink(const Value &result, const Value &logSum);
  Value softmaxWithoutSink(const Value &sink, const Value &logSum);

  CallArgs &args;
};

} // namespace

/// `window(n)`: positions less than n apart; `window(none)` allows all.
Value Builtins::window(CallArgs &args) {
  if (!args.expect(1, 1, /*over=*/false, /*along=*/false))
    return {};
  if (args[0].kind == Value::Kind::None)
    return Value::ofMask({});
  if (args[0].isInt() && args[0].integer > 0)
    return Value::ofMask({.window = args[0].integer});
  report(Code::BadMask, args.getLoc(0),
         "`window` takes a positive integer or `none`, not " + args[0].print());
  return {};
}

/// `document(ids)`: positions with equal numbers; `document(none)` allows all.
Value Builtins::document(CallArgs &args) {
  if (!args.expect(1, 1, /*over=*/false, /*along=*/false))
    return {};
  if (args[0].kind == Value::Kind::None)
    return Value::ofMask({});
  if (!expectTensor(args[0], args.getLoc(0), "the argument of `document`"))
    return {};
  if (DType dtype = getTensorType(args[0]).dtype; dtype != DType::I64) {
    report(Code::DTypeMismatch, args.getLoc(0),
           std::string("documents are numbered by an int tensor, not ") + spelling(dtype));
    return {};
  }
  return Value::ofMask({.documents = args[0].tensor});
}

/// Checks the dimensions of queries, keys and values.
bool AttentionCall::check() {
  DimId head = args.over[0], along = args.along[0];
  const char *names[] = {"the queries", "the keys", "the values"};
  for (size_t i = 0; i < 3; ++i) {
    if (!expectTensor(args[i], args.getLoc(i), names[i]))
      return false;
    for (DimId id : {head, along})
      if (!getTensorType(args[i]).dims.contains(id) && (id == along || i < 2)) {
        report(Code::DimensionNotThere, args.getLoc(i),
               std::string(names[i]) + " of `attention` need `" + model.dims[id].name +
                   "`, but have " + print(getTensorType(args[i]).dims));
        return false;
      }
  }
  const TensorType q = getTensorType(args[0]), k = getTensorType(args[1]),
                   v = getTensorType(args[2]);
  DimSet valueHead = v.dims.without(k.dims); // instead of `head`
  bool valuesFit = valueHead.empty()
                       ? k.dims.sameDims(v.dims)
                       : valueHead.size() == 1 && !q.dims.contains(valueHead[0]) &&
                             v.dims.without(valueHead).sameDims(k.dims.without({head}));
  if (valuesFit && q.dims.containsAll(k.dims))
    return true;
  report(Code::AttentionDimensions, args.loc(),
         "keys and values must have equal dimensions, all of which the queries have")
      .note(args.getLoc(0), "the queries have " + print(q.dims))
      .note(args.getLoc(1), "the keys have " + print(k.dims))
      .note(args.getLoc(2), "the values have " + print(v.dims))
      .help("only in place of `" + model.dims[head].name +
            "` the values may have one dimension of their own");
  return false;
}

bool AttentionCall::addDocuments(const Mask &mask, Op &op) {
  if (!mask.documents)
    return true;
  const TensorType k = getTensorType(args[1]), ids = model.values[*mask.documents].type;
  DimId head = args.over[0], along = args.along[0];
  if (!ids.dims.contains(along) || !k.dims.without({head}).containsAll(ids.dims)) {
    report(Code::BadMask, args.keywordLoc("mask"),
           "the documents have " + print(ids.dims) + ", but must have `" + model.dims[along].name +
               "`, and otherwise only dimensions of the keys")
        .note(args.getLoc(1), "the keys have " + print(k.dims));
    return false;
  }
  op.operands.push_back(*mask.documents);
  return true;
}

/// A sink is a logit without a value in every softmax. With l the log-sum-exp of the scores, it
/// scales the probabilities by exp(l) / (exp(l) + exp(sink)).
Value AttentionCall::addSink(const Value &result, const Value &logSum) {
  const Value *sink = args.keyword("sink");
  if (!sink || sink->kind == Value::Kind::None)
    return result;
  Location at = args.keywordLoc("sink");
  if (!expectTensor(*sink, at, "`sink`"))
    return {};
  if (!getTensorType(logSum).dims.containsAll(getTensorType(*sink).dims)) {
    report(Code::AttentionDimensions, at,
           "a sink has dimensions of the queries other than `" + model.dims[args.over[0]].name +
               "`, but this has " + print(getTensorType(*sink).dims))
        .note(args.getLoc(0), "the queries have " + print(getTensorType(args[0]).dims));
    return {};
  }
  Value fraction = softmaxWithoutSink(*sink, logSum);
  if (fraction.isError())
    return {};
  return elaboration.tensors.elementwise("mul", result, fraction, args.loc(), args.loc(), at);
}

/// The softmax probability of the keys against the sink, computed in the type of the softmax.
Value AttentionCall::softmaxWithoutSink(const Value &sink, const Value &logSum) {
  PrecisionRegion region(elaboration.recorder, wider(elaboration.recorder.computeType, DType::F32));
  Value fraction = elaboration.tensors.elementwise("sub", logSum, sink, args.loc(), args.loc(),
                                                   args.keywordLoc("sink"));
  return fraction.isError() ? fraction : elaboration.tensors.unary("sigmoid", fraction, args.loc());
}

/// The `mask` argument; empty after an error.
std::optional<Mask> AttentionCall::mask() {
  const Value *given = args.keyword("mask");
  if (!given || given->kind == Value::Kind::None)
    return std::make_optional<Mask>();
  std::optional<Mask> mask = asMask(*given);
  if (!mask)
    report(Code::BadMask, args.keywordLoc("mask"), "`mask` cannot be " + given->print())
        .help("it is `none`, or `causal`, `window(n)`, `document(ids)`, several joined by `and`");
  return mask;
}

/// The bound of the scores, 0 without one; empty after an error.
std::optional<double> AttentionCall::softCap() {
  const Value *given = args.keyword("soft_cap");
  if (!given || given->kind == Value::Kind::None)
    return 0;
  std::optional<double> cap = args.number("soft_cap", 0);
  if (!cap || (*cap > 0 && std::isfinite(*cap)))
    return cap;
  report(Code::BadArgument, args.keywordLoc("soft_cap"),
         "`soft_cap` bounds the scores and must be positive, not " + given->print())
      .help("`soft_cap = none` leaves them as they are");
  return std::nullopt;
}

Value AttentionCall::run() {
  if (!args.expect(3, 3, /*over=*/true, /*along=*/true, {"mask", "scale", "soft_cap", "sink"}) ||
      !args.expectSingleOver() || !check())
    return {};
  DimId head = args.over[0];
  std::optional<Mask> allowed = mask();
  if (!allowed)
    return {};
  std::optional<double> scale =
      args.number("scale", 1 / std::sqrt(static_cast<double>(model.dims[head].size)));
  std::optional<double> cap = softCap();
  if (!scale || !cap)
    return {};
  const TensorType q = getTensorType(args[0]), v = getTensorType(args[2]);
  DimSet valueHead = v.dims.without(getTensorType(args[1]).dims), dims;
  for (DimId id : q.dims)
    dims.insert(id == head && !valueHead.empty() ? valueHead[0] : id);
  Op op(OpKind::Attention, {args[0].tensor, args[1].tensor, args[2].tensor});
  op.dims = {head, args.along[0]};
  op.word = allowed->causal ? "causal" : "full";
  op.number = *scale;
  op.index = allowed->window;
  if (*cap)
    op.numbers = {*cap};
  if (!addDocuments(*allowed, op))
    return {};
  // The log-sum-exp of the scores has more digits than the scores.
  DType type = elaboration.recorder.computeType;
  Value both = elaboration.recorder.emitAll(
      std::move(op), {{type, dims}, {wider(type, DType::F32), q.dims.without({head})}}, args.loc());
  return both.isError() ? both : addSink(both.elements[0], both.elements[1]);
}

Value Builtins::attention(CallArgs &args) {
  return AttentionCall(elaboration, args).run();
}

} // namespace titan::sema
