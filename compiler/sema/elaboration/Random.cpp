// Random tensors. Their values depend on the seed of the run, the step, the iteration of the
// enclosing repeats, and the global index of each element (titan.random).
#include "compiler/sema/elaboration/CallArgs.h"

namespace titan::sema {

/// `random_normal(batch, seq)`: a tensor with these dimensions.
Value Builtins::random(CallArgs &args) {
  if (!args.expect(1, 8, /*over=*/false, /*along=*/false))
    return {};
  DimSet dims;
  for (size_t i = 0; i < args.count(); ++i) {
    std::optional<DimId> dim = args.dim(i);
    if (!dim)
      return {};
    if (!dims.insert(*dim)) {
      report(Code::DimensionTwice, args.getLoc(i),
             "dimension `" + model.dims[*dim].name + "` appears twice in one tensor");
      return {};
    }
  }
  Op op(OpKind::Random);
  op.word = args.name().substr(std::string("random_").size());
  return emit(std::move(op), {elaboration.recorder.computeType, dims}, args.loc());
}

/// `dropout(x, 0.1)`: in training, 0 with this probability and else x / (1 - rate).
Value Builtins::dropout(CallArgs &args) {
  if (!args.expect(2, 2, /*over=*/false, /*along=*/false) ||
      !expectTensor(args[0], args.getLoc(0), "the first argument of `dropout`"))
    return {};
  if (!isFloat(getTensorType(args[0]).dtype)) {
    report(Code::DTypeMismatch, args.getLoc(0),
           std::string("`dropout` takes a floating-point tensor, not ") +
               spelling(getTensorType(args[0]).dtype));
    return {};
  }
  if (!args[1].isNumber() || args[1].number() < 0 || args[1].number() >= 1) {
    report(Code::BadArgument, args.getLoc(1),
           "`dropout` takes a probability from 0 to below 1, not " + args[1].print());
    return {};
  }
  if (args[1].number() == 0 || !context.isTraining())
    return args[0];
  Op op(OpKind::Dropout, {args[0].tensor});
  op.number = args[1].number();
  return emit(std::move(op), getTensorType(args[0]), args.loc());
}

} // namespace titan::sema
