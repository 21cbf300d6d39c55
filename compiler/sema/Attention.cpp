// `attention(q, k, v, over d, along s, mask = causal and window(64))` and what masks are made of.
#include "compiler/sema/CallArgs.h"

#include <algorithm>
#include <cmath>

namespace titan::sema {

std::optional<Mask> Elaborator::asMask(const Value &value) {
  if (value.kind == Value::Kind::Mask)
    return value.mask;
  if (value.isWord("causal"))
    return Mask{.causal = true};
  return std::nullopt;
}

Value Elaborator::intersect(const Mask &lhs, const Mask &rhs, Location at) {
  if (lhs.documents && rhs.documents) {
    report(Code::BadMask, at, "a mask has one `document`")
        .help(
            "number the documents so that two positions see each other if their numbers are equal");
    return {};
  }
  Mask both = lhs;
  both.causal |= rhs.causal;
  if (rhs.window && (!lhs.window || rhs.window < lhs.window))
    both.window = rhs.window;
  if (rhs.documents)
    both.documents = rhs.documents;
  return Value::ofMask(both);
}

/// `window(n)`: positions that are less than n apart; `window(none)` lets all through.
Value Elaborator::builtinWindow(CallArgs &args) {
  if (!args.expect(1, 1, false, false))
    return {};
  if (args[0].kind == Value::Kind::None)
    return Value::ofMask({});
  if (args[0].isInt() && args[0].integer > 0)
    return Value::ofMask({.window = args[0].integer});
  report(Code::BadMask, args.locOf(0),
         "`window` takes a positive integer or `none`, not " + args[0].print());
  return {};
}

/// `document(ids)`: positions with equal numbers.
Value Elaborator::builtinDocument(CallArgs &args) {
  if (!args.expect(1, 1, false, false) ||
      !expectTensor(args[0], args.locOf(0), "the argument of `document`"))
    return {};
  if (DType dtype = typeOf(args[0]).dtype; dtype != DType::I64) {
    report(Code::DTypeMismatch, args.locOf(0),
           std::string("documents are numbered by an int tensor, not ") + spelling(dtype));
    return {};
  }
  return Value::ofMask({.documents = args[0].tensor});
}

/// Queries, keys and values fit.
bool Elaborator::checkAttention(CallArgs &args) {
  DimId head = args.over[0], along = args.along[0];
  const char *names[] = {"the queries", "the keys", "the values"};
  for (size_t i = 0; i < 3; ++i) {
    if (!expectTensor(args[i], args.locOf(i), names[i]))
      return false;
    for (DimId id : {head, along})
      if (!typeOf(args[i]).dims.contains(id) && (id == along || i < 2)) {
        report(Code::DimensionNotThere, args.locOf(i),
               std::string(names[i]) + " of `attention` need `" + model.dims[id].name +
                   "`, but have " + print(typeOf(args[i]).dims));
        return false;
      }
  }
  const TensorType q = typeOf(args[0]), k = typeOf(args[1]), v = typeOf(args[2]);
  DimSet own = v.dims.without(k.dims); // of the values, in place of the head
  bool valuesFit = own.empty() ? k.dims.sameDims(v.dims)
                               : own.size() == 1 && !q.dims.contains(own[0]) &&
                                     v.dims.without(own).sameDims(k.dims.without({head}));
  if (valuesFit && q.dims.containsAll(k.dims))
    return true;
  report(Code::AttentionDimensions, args.loc(),
         "keys and values must have equal dimensions, all of them among the queries'")
      .note(args.locOf(0), "the queries have " + print(q.dims))
      .note(args.locOf(1), "the keys have " + print(k.dims))
      .note(args.locOf(2), "the values have " + print(v.dims))
      .help("only in place of `" + model.dims[head].name +
            "` the values may have one dimension of their own");
  return false;
}

bool Elaborator::addDocuments(CallArgs &args, const Mask &mask, Op &op) {
  if (!mask.documents)
    return true;
  const TensorType k = typeOf(args[1]), ids = model.values[*mask.documents].type;
  DimId head = args.over[0], along = args.along[0];
  if (!ids.dims.contains(along) || !k.dims.without({head}).containsAll(ids.dims)) {
    report(Code::BadMask, args.keywordLoc("mask"),
           "the documents have " + print(ids.dims) + ", but must have `" + model.dims[along].name +
               "`, and otherwise only dimensions of the keys")
        .note(args.locOf(1), "the keys have " + print(k.dims));
    return false;
  }
  op.operands.push_back(*mask.documents);
  return true;
}

/// A sink is a logit that joins every softmax and has no value: with l the log-sum-exp of the
/// scores, the probabilities shrink by exp(l) / (exp(l) + exp(sink)).
Value Elaborator::addSink(CallArgs &args, const Value &result, const Value &logSum) {
  const Value *sink = args.keyword("sink");
  if (!sink || sink->kind == Value::Kind::None)
    return result;
  Location at = args.keywordLoc("sink");
  if (!expectTensor(*sink, at, "`sink`"))
    return {};
  if (!typeOf(logSum).dims.containsAll(typeOf(*sink).dims)) {
    report(Code::AttentionDimensions, at,
           "a sink has dimensions of the queries other than `" + model.dims[args.over[0]].name +
               "`, but this has " + print(typeOf(*sink).dims))
        .note(args.locOf(0), "the queries have " + print(typeOf(args[0]).dims));
    return {};
  }
  // What joins the softmax is computed as the softmax is.
  DType outer = computeType;
  computeType = wider(outer, DType::F32);
  Value share = elementwise("sub", logSum, *sink, args.loc(), args.loc(), at);
  if (!share.isError())
    share = unary("sigmoid", share, args.loc());
  computeType = outer;
  if (share.isError())
    return {};
  return elementwise("mul", result, share, args.loc(), args.loc(), at);
}

Value Elaborator::builtinAttention(CallArgs &args) {
  if (!args.expect(3, 3, true, true, {"mask", "scale", "soft_cap", "sink"}) ||
      !args.expectOneOver() || !checkAttention(args))
    return {};
  DimId head = args.over[0];
  const Value *given = args.keyword("mask");
  std::optional<Mask> mask = !given || given->kind == Value::Kind::None ? Mask() : asMask(*given);
  if (!mask) {
    report(Code::BadMask, args.keywordLoc("mask"), "`mask` cannot be " + given->print())
        .help("it is `none`, or `causal`, `window(n)`, `document(ids)`, several joined by `and`");
    return {};
  }
  std::optional<double> scale =
      args.number("scale", 1 / std::sqrt(static_cast<double>(model.dims[head].size)));
  const Value *capValue = args.keyword("soft_cap");
  bool isCapped = capValue && capValue->kind != Value::Kind::None;
  std::optional<double> cap = isCapped ? args.number("soft_cap", 0) : 0;
  if (!scale || !cap)
    return {};
  if (isCapped && !(*cap > 0 && std::isfinite(*cap))) {
    report(Code::BadArgument, args.keywordLoc("soft_cap"),
           "`soft_cap` bounds the scores and must be positive, not " + capValue->print())
        .help("`soft_cap = none` leaves them as they are");
    return {};
  }
  const TensorType q = typeOf(args[0]), v = typeOf(args[2]);
  DimSet own = v.dims.without(typeOf(args[1]).dims), dims;
  for (DimId id : q.dims)
    dims.insert(id == head && !own.empty() ? own[0] : id);
  Op op(OpKind::Attention, {args[0].tensor, args[1].tensor, args[2].tensor});
  op.dims = {head, args.along[0]};
  op.word = mask->causal ? "causal" : "full";
  op.number = *scale;
  op.index = mask->window;
  if (isCapped)
    op.numbers = {*cap};
  if (!addDocuments(args, *mask, op))
    return {};
  // The log-sum-exp of the scores keeps more digits than they have.
  Value both = emitAll(
      std::move(op),
      {{computeType, dims}, {wider(computeType, DType::F32), q.dims.without({head})}}, args.loc());
  return both.isError() ? both : addSink(args, both.elements[0], both.elements[1]);
}

} // namespace titan::sema
