// What depends on order or on places along a dimension: `top_k`, `cumulative_sum`, `scatter`.
#include "compiler/sema/CallArgs.h"

namespace titan::sema {

using namespace syntax;

/// `top_k(x, 2, over experts as chosen)`: the values and where they are, a new dimension each.
Value Elaborator::topK(const CallExpr &expr) {
  const Arg *over = expr.args.size() == 3 ? &expr.args[2] : nullptr;
  bool fits = over && over->kind == ArgKind::Over && over->dims && over->dims->from.size() == 1 &&
              over->dims->to.size() == 1;
  for (size_t i = 0; fits && i < 2; ++i)
    fits = expr.args[i].kind == ArgKind::Positional && expr.args[i].value;
  if (!fits) {
    report(Code::BadArgument, expr.loc, "write `top_k(x, 2, over experts as chosen)`");
    return {};
  }
  Value x = eval(*expr.args[0].value), count = eval(*expr.args[1].value);
  std::optional<DimId> dim = dimOf(over->dims->from[0]);
  if (count.isError() || !dim || !expectTensor(x, expr.args[0].loc, "what `top_k` takes"))
    return {};
  const TensorType type = typeOf(x);
  if (!type.dims.contains(*dim)) {
    report(Code::DimensionNotThere, over->loc,
           "the tensor has no dimension `" + model.dims[*dim].name + "`; it has " +
               print(type.dims));
    return {};
  }
  if (!count.isInt() || count.integer < 1 || count.integer > model.dims[*dim].size) {
    report(Code::BadDimensionSize, expr.args[1].loc,
           "`top_k` chooses 1 to " + std::to_string(model.dims[*dim].size) + " of `" +
               model.dims[*dim].name + "`, not " + count.print());
    return {};
  }
  DimId chosen = newOrKnown(over->dims->to[0], *dim, count.integer);
  if (chosen == noDim)
    return {};
  DimSet dims;
  for (DimId id : type.dims)
    if (!dims.insert(id == *dim ? chosen : id) || (id == *dim && chosen == *dim)) {
      report(Code::DimensionTwice, over->loc,
             "the tensor has `" + model.dims[chosen].name + "` already; it has " +
                 print(type.dims));
      return {};
    }
  Op op(OpKind::TopK, {x.tensor});
  op.dims = {*dim, chosen};
  DType dtype = isFloat(type.dtype) ? computeType : type.dtype;
  return emitAll(std::move(op), {{dtype, dims}, {DType::I64, dims}}, expr.loc);
}

Value Elaborator::builtinCumulativeSum(CallArgs &args) {
  if (!args.expect(1, 1, false, true, {"reverse"}) ||
      !expectTensor(args[0], args.locOf(0), "the argument of `cumulative_sum`"))
    return {};
  const TensorType type = typeOf(args[0]);
  if (type.dtype == DType::Bool) {
    report(Code::DTypeMismatch, args.locOf(0), "`cumulative_sum` adds numbers, not truth values")
        .help("choose numbers first: `where(x, 1.0, zeros)`");
    return {};
  }
  if (!type.dims.contains(args.along[0])) {
    report(Code::DimensionNotThere, args.alongLoc,
           "the tensor has no dimension `" + model.dims[args.along[0]].name + "`; it has " +
               print(type.dims));
    return {};
  }
  const Value *reverse = args.keyword("reverse");
  if (reverse && reverse->kind != Value::Kind::Bool) {
    report(Code::BadArgument, args.keywordLoc("reverse"),
           std::string("`reverse` is true or false, not ") + reverse->print());
    return {};
  }
  Op op(OpKind::Cumulate, {args[0].tensor});
  op.dims = {args.along[0]};
  op.word = reverse && reverse->truth() ? "reverse" : "forward";
  return emit(std::move(op), type, args.loc());
}

/// `scatter(updates, index, along experts, over chosen)`: the transpose of `x[experts: index]`.
Value Elaborator::builtinScatter(CallArgs &args) {
  if (!args.expect(2, 2, !args.over.empty(), true))
    return {};
  for (size_t i = 0; i < 2; ++i)
    if (!expectTensor(args[i], args.locOf(i),
                      i == 0 ? "what `scatter` puts" : "the places of `scatter`"))
      return {};
  const TensorType updates = typeOf(args[0]), index = typeOf(args[1]);
  if (index.dtype != DType::I64) {
    report(Code::DTypeMismatch, args.locOf(1),
           std::string("places are an int tensor, not ") + spelling(index.dtype));
    return {};
  }
  if (updates.dtype == DType::Bool) {
    report(Code::DTypeMismatch, args.locOf(0), "`scatter` adds numbers, not truth values");
    return {};
  }
  DimId along = args.along[0];
  DimSet joined = updates.dims.unite(index.dims), summed;
  for (DimId id : args.over) {
    if (!joined.contains(id)) {
      report(Code::DimensionNotThere, args.overLoc,
             "neither the values nor their places have `" + model.dims[id].name + "`");
      return {};
    }
    summed.insert(id);
  }
  if (joined.contains(along)) {
    report(Code::DimensionTwice, args.alongLoc,
           "the values or their places have the dimension `" + model.dims[along].name +
               "` already");
    return {};
  }
  if (!indexFits(args[1], along, args.locOf(1)))
    return {};
  DimSet dims = joined.without(summed);
  dims.insert(along);
  Op op(OpKind::Scatter, {args[0].tensor, args[1].tensor});
  op.dims = {along};
  return emit(std::move(op), {updates.dtype, dims}, args.loc());
}

} // namespace titan::sema
