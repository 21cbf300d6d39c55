// `rotary(x, over d, along s)`: rotates pairs of elements by their position.
#include "compiler/sema/elaboration/CallArgs.h"

namespace titan::sema {

Value Builtins::rotary(CallArgs &args) {
  if (!args.expect(1, 1, /*over=*/true, /*along=*/true, {"theta", "pairs", "frequencies"}) ||
      !expectTensor(args[0], args.getLoc(0), "the argument of `rotary`"))
    return {};
  std::optional<double> theta = args.number("theta", 10000);
  std::optional<std::string> pairs = args.word("pairs", {"interleaved", "half"}, "interleaved");
  std::optional<std::vector<double>> frequencies = args.numbers("frequencies");
  if (!theta || !pairs || !frequencies || !args.expectSingleOver())
    return {};
  if (!(*theta > 0)) {
    report(Code::BadArgument, args.keywordLoc("theta"),
           "`theta` must be positive, not " + Value::ofFloat(*theta).print());
    return {};
  }
  TensorType type = getTensorType(args[0]);
  for (DimId id : {args.over[0], args.along[0]})
    if (!type.dims.contains(id)) {
      report(Code::DimensionNotThere, args.getLoc(0),
             "`rotary` works on `" + model.dims[id].name + "`, but this has " + print(type.dims));
      return {};
    }
  const Dim &dim = model.dims[args.over[0]];
  if (dim.size % 2) {
    report(Code::BadDimensionSize, args.overLoc,
           "`rotary` rotates pairs of elements, but `" + dim.name + "` has the odd size " +
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
