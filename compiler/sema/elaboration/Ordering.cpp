// Functions that depend on positions along a dimension: `cumulative_sum`, `cumulative_count`,
// `scatter`.
#include "compiler/sema/elaboration/CallArgs.h"

namespace titan::sema {

Value Builtins::cumulativeSum(CallArgs &args) {
  if (!args.expect(1, 1, /*over=*/false, /*along=*/true, {"reverse"}) ||
      !expectTensor(args[0], args.getLoc(0), "the argument of `cumulative_sum`"))
    return {};
  const Value operand = elaboration.tensors.booleansAsIntegers(args[0], args.loc());
  const TensorType type = getTensorType(operand);
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
  Op op(OpKind::Cumulate, {operand.tensor});
  op.dims = {args.along[0]};
  op.word = reverse && reverse->boolean() ? "reverse" : "forward";
  return emit(std::move(op), type, args.loc());
}

/// `cumulative_count(chosen, along experts, over seq, choice)`: how often an index occurred before,
/// in the order of `over`, outer to inner.
Value Builtins::cumulativeCount(CallArgs &args) {
  if (!args.expect(1, 1, /*over=*/true, /*along=*/true) ||
      !expectTensor(args[0], args.getLoc(0), "the indices of `cumulative_count`"))
    return {};
  const TensorType type = getTensorType(args[0]);
  if (type.dtype != DType::I64) {
    report(Code::DTypeMismatch, args.getLoc(0),
           std::string("indices are an int tensor, not ") + spelling(type.dtype));
    return {};
  }
  Op op(OpKind::Count, {args[0].tensor});
  op.dims = {args.along[0]};
  op.index = model.dims[args.along[0]].size;
  for (DimId id : args.over) {
    if (!type.dims.contains(id)) {
      report(Code::DimensionNotThere, args.overLoc,
             "the tensor has no dimension `" + model.dims[id].name + "`; it has " +
                 print(type.dims));
      return {};
    }
    op.dims.push_back(id);
  }
  if (!elaboration.recorder.indexFits(args[0], args.along[0], args.getLoc(0)))
    return {};
  return emit(std::move(op), type, args.loc());
}

/// `scatter(updates, index, along experts, over chosen)`: the transpose of `x[experts: index]`.
Value Builtins::scatter(CallArgs &args) {
  if (!args.expect(2, 2, /*over=*/!args.over.empty(), /*along=*/true))
    return {};
  for (size_t i = 0; i < 2; ++i)
    if (!expectTensor(args[i], args.getLoc(i),
                      i == 0 ? "the first argument of `scatter`" : "the indices of `scatter`"))
      return {};
  const TensorType updates = getTensorType(args[0]), index = getTensorType(args[1]);
  if (index.dtype != DType::I64) {
    report(Code::DTypeMismatch, args.getLoc(1),
           std::string("indices are an int tensor, not ") + spelling(index.dtype));
    return {};
  }
  if (updates.dtype == DType::Bool) {
    report(Code::DTypeMismatch, args.getLoc(0), "`scatter` adds numbers, not booleans");
    return {};
  }
  DimId along = args.along[0];
  DimSet joined = updates.dims.unite(index.dims), summed;
  for (DimId id : args.over) {
    if (!joined.contains(id)) {
      report(Code::DimensionNotThere, args.overLoc,
             "neither the values nor their indices have `" + model.dims[id].name + "`");
      return {};
    }
    summed.insert(id);
  }
  if (joined.contains(along)) {
    report(Code::DimensionTwice, args.alongLoc,
           "the values or their indices have the dimension `" + model.dims[along].name +
               "` already");
    return {};
  }
  if (!elaboration.recorder.indexFits(args[1], along, args.getLoc(1)))
    return {};
  DimSet dims = joined.without(summed);
  dims.insert(along);
  Op op(OpKind::Scatter, {args[0].tensor, args[1].tensor});
  op.dims = {along};
  return emit(std::move(op), {updates.dtype, dims}, args.loc());
}

} // namespace titan::sema
