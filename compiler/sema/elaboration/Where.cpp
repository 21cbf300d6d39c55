// `where`: selects between two values elementwise.
#include "compiler/sema/elaboration/CallArgs.h"

namespace titan::sema {

/// `where(condition, a, b)`: the three operands join by name. A number gets the element type of the
/// other choice, or the compute type.
Value Builtins::where(CallArgs &args) {
  if (args.count() == 2) {
    report(Code::BadArgument, args.loc(), "`where` takes 3 values, not 2")
        .help("state the value of the other elements too: `where(c, x, 0)`");
    return {};
  }
  if (!args.expect(3, 3, /*over=*/false, /*along=*/false) ||
      !expectTensor(args[0], args.getLoc(0), "the condition of `where`"))
    return {};
  if (getTensorType(args[0]).dtype != DType::Bool) {
    report(Code::DTypeMismatch, args.getLoc(0),
           std::string("the condition of `where` must be a comparison, not ") +
               spelling(getTensorType(args[0]).dtype));
    return {};
  }
  TensorType like = {elaboration.recorder.computeType, getTensorType(args[0]).dims};
  for (size_t i : {2, 1})
    if (args[i].isTensor())
      like.dtype = getTensorType(args[i]).dtype;
  Op op(OpKind::Elementwise, {args[0].tensor});
  op.word = "select";
  for (size_t i = 1; i < 3; ++i) {
    Value choice = args[i];
    if (choice.isNumber())
      choice = elaboration.tensors.constantLike(choice, like, args.getLoc(i));
    if (!expectTensor(choice, args.getLoc(i), "a choice of `where`"))
      return {};
    if (!mayJoin(getTensorType(choice).dtype, like.dtype)) {
      report(Code::DTypeMismatch, args.getLoc(i), "the choices of `where` differ in element type");
      return {};
    }
    if (getTensorType(choice).dims.size() > like.dims.size())
      like.dims = getTensorType(choice).dims;
    op.operands.push_back(choice.tensor);
  }
  for (size_t i = 0; i < 3; ++i) {
    const DimSet dims = model.values[op.operands[i]].type.dims;
    if (like.dims.containsAll(dims))
      continue;
    report(Code::OuterProduct, args.getLoc(i),
           "the dimensions " + print(dims) + " and " + print(like.dims) +
               " cannot be combined: neither is a subset of the other");
    return {};
  }
  return emit(std::move(op), like, args.loc());
}

} // namespace titan::sema
