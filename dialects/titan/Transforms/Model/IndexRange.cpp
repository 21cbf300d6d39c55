// Computes value ranges of index tensors.

#include "dialects/titan/Transforms/Model/IndexRange.h"
#include "dialects/titan/IR/Compare.h"
#include "dialects/titan/IR/TensorAttributes.h"
#include "dialects/titan/IR/TensorType.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace titan::ir;

/// [0, size).
static Interval below(int64_t size) {
  return {0, size - 1};
}

static std::optional<Interval> unite(std::optional<Interval> a, std::optional<Interval> b) {
  if (!a || !b)
    return std::nullopt;
  return Interval{std::min(a->least, b->least), std::max(a->most, b->most)};
}

/// 32-bit bounds, whose sum, difference and product do not overflow.
static bool isSmall(Interval interval) {
  return llvm::isInt<32>(interval.least) && llvm::isInt<32>(interval.most);
}

/// The range of a function that is monotonic in each operand: from its least to its greatest value
/// at the bounds.
template <typename Fn> static Interval atBounds(Interval a, Interval b, Fn function) {
  int64_t values[] = {function(a.least, b.least), function(a.least, b.most),
                      function(a.most, b.least), function(a.most, b.most)};
  auto [least, most] = std::minmax_element(std::begin(values), std::end(values));
  return {*least, *most};
}

std::optional<Interval> IndexRanges::computeForArgument(BlockArgument argument) const {
  if (std::optional<RepeatVariant> body = findVariant(argument.getOwner())) {
    if (argument == body->getIndex())
      return below(body->getRepeat().getDim().getSize());
    return std::nullopt;
  }
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto input = function
                   ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), attr::kInput)
                   : StringAttr();
  bool isTokens = input && (input.getValue() == "tokens" || input.getValue() == "labels");
  return isTokens && vocab ? std::optional(below(*vocab)) : std::nullopt;
}

std::optional<Interval> IndexRanges::computeForArithmetic(Operation *op) {
  std::optional<Interval> a = get(op->getOperand(0)), b = get(op->getOperand(1));
  // Even a minimum or maximum needs both ranges for both of its bounds.
  if (!a || !b || !isSmall(*a) || !isSmall(*b))
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, std::optional<Interval>>(op)
      .Case([&](AddOp) { return Interval{a->least + b->least, a->most + b->most}; })
      .Case([&](SubOp) { return Interval{a->least - b->most, a->most - b->least}; })
      .Case([&](MulOp) { return atBounds(*a, *b, std::multiplies<>()); })
      .Case([&](MaximumOp) {
        return Interval{std::max(a->least, b->least), std::max(a->most, b->most)};
      })
      .Case([&](MinimumOp) {
        return Interval{std::min(a->least, b->least), std::min(a->most, b->most)};
      })
      .Case([&](DivOp) -> std::optional<Interval> {
        if (b->least <= 0)
          return std::nullopt;
        return atBounds(*a, *b, std::divides<>());
      })
      .Default(std::optional<Interval>());
}

std::optional<Interval> IndexRanges::compute(Value value) {
  auto type = dyn_cast<NamedTensorType>(value.getType());
  if (!type || !type.getElementType().isInteger())
    return std::nullopt;
  if (type.getElementType().isInteger(1))
    return Interval{0, 1};
  if (auto argument = dyn_cast<BlockArgument>(value))
    return computeForArgument(argument);
  return llvm::TypeSwitch<Operation *, std::optional<Interval>>(value.getDefiningOp())
      .Case([&](IotaOp) { return below(type.getDims()[0].getSize()); })
      .Case([&](ConstantOp constant) {
        return Interval{constant.getInteger(), constant.getInteger()};
      })
      .Case<SliceOp, ExpandOp, CastOp, CopyOp>(
          [&](Operation *op) { return get(op->getOperand(0)); })
      .Case([&](PadOp pad) { return unite(get(pad.getInput()), Interval{0, 0}); })
      .Case([&](SelectOp select) {
        return unite(get(select.getWhenTrue()), get(select.getWhenFalse()));
      })
      .Case([&](GatherOp gather) { return get(gather.getInput()); })
      .Case([&](TopKOp topK) -> std::optional<Interval> {
        NamedTensorType chosen = topK.getInput().getType();
        return below(chosen.getDims()[chosen.findDimIndex(topK.getAlongAttr())].getSize());
      })
      .Case([&](CumulativeCountOp counts) {
        int64_t numCounted = 1;
        for (auto dim : counts.getOver().getAsRange<StringAttr>())
          numCounted *= type.getDims()[type.findDimIndex(dim)].getSize();
        return below(numCounted);
      })
      .Case([&](ReduceOp reduce) -> std::optional<Interval> {
        if (reduce.getKind() == dist::ReductionKind::Sum)
          return std::nullopt;
        return get(reduce.getInput());
      })
      .Case<AddOp, SubOp, MulOp, DivOp, MaximumOp, MinimumOp>(
          [&](Operation *op) { return computeForArithmetic(op); })
      .Default([&](Operation *op) {
        return op->hasTrait<View>() ? get(op->getOperand(0)) : std::nullopt;
      });
}

std::optional<Interval> IndexRanges::get(Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  std::optional<Interval> range = compute(value);
  known[value] = range;
  return range;
}

std::optional<bool> IndexRanges::decide(CompareOp op) {
  const ComparePredicate predicate = op.getPredicate();
  std::optional<Interval> a = get(op.getLhs()), b = get(op.getRhs());
  if (!a || !b || predicate == ComparePredicate::EQ || predicate == ComparePredicate::NE)
    return std::nullopt;
  // The other predicates are monotonic, so that two pairs of bounds are the extremes.
  const bool one = compare(predicate, a->least, b->most);
  return one == compare(predicate, a->most, b->least) ? std::optional(one) : std::nullopt;
}

std::optional<int64_t> titan::ir::getVocabulary(ModuleOp module) {
  auto sizes = module->getAttrOfType<DictionaryAttr>(attr::kSizes);
  auto vocab = sizes ? sizes.getAs<IntegerAttr>("vocab") : IntegerAttr();
  return vocab ? std::optional(vocab.getInt()) : std::nullopt;
}
