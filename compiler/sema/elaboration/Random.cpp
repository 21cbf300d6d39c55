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

/// Whether the arguments are a floating-point tensor and a probability; reports otherwise.
bool Builtins::checkDropout(CallArgs &args) {
  const std::string &name = args.name();
  if (!args.expect(2, 2, /*over=*/false, /*along=*/false) ||
      !expectTensor(args[0], args.getLoc(0), ("the first argument of `" + name + "`").c_str()))
    return false;
  if (!isFloat(getTensorType(args[0]).dtype)) {
    report(Code::DTypeMismatch, args.getLoc(0),
           "`" + name + "` takes a floating-point tensor, not " +
               spelling(getTensorType(args[0]).dtype));
    return false;
  }
  if (!args[1].isNumber() || args[1].number() < 0 || args[1].number() >= 1) {
    report(Code::BadArgument, args.getLoc(1),
           "`" + name + "` takes a probability from 0 to below 1, not " + args[1].print());
    return false;
  }
  return true;
}

/// `dropout(x, 0.1)`.
Value Builtins::dropout(CallArgs &args) {
  return checkDropout(args) ? elaboration.tensors.dropout(args[0], args[1].number(), args.loc())
                            : Value();
}

/// `input_dropout(u, 0.1)`.
Value Builtins::inputDropout(CallArgs &args) {
  if (!checkDropout(args))
    return {};
  return args[1].number() == 0 || !context.isTraining()
             ? args[0]
             : elaboration.inputDropout.mark(args[0], args[1].number(), args.loc());
}

} // namespace titan::sema
