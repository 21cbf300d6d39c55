// Sharding rules of elementwise operations.

#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/ShardingRules/RuleBuilder.h"
#include "dialects/titan/ShardingRules/ShardingRules.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

using LinearSets = std::vector<std::vector<unsigned>>;

namespace {

/// The sets of operands in which `Op` is jointly linear: `{{0, 1}}` for a sum, `{{0}, {1}}` for a
/// product.
template <typename Op> LinearSets getLinearSets(Op op) {
  return {};
}
LinearSets getLinearSets(NegOp) {
  return {{0}};
}
LinearSets getLinearSets(AddOp) {
  return {{0, 1}};
}
LinearSets getLinearSets(SubOp) {
  return {{0, 1}};
}
LinearSets getLinearSets(MulOp) {
  return {{0}, {1}};
}
/// Integer division truncates and is therefore not linear.
LinearSets getLinearSets(DivOp op) {
  return isa<FloatType>(op.getResult().getType().getElementType()) ? LinearSets{{0}} : LinearSets{};
}
LinearSets getLinearSets(SelectOp) {
  return {{1, 2}};
}
LinearSets getLinearSets(CopyOp) {
  return {{0}};
}
LinearSets getLinearSets(ExpandOp) {
  return {{0}};
}
/// Widening is exact and hence linear. Narrowing rounds and counts as linear only on request.
LinearSets getLinearSets(CastOp op) {
  auto from = dyn_cast<FloatType>(op.getInput().getType().getElementType());
  auto to = dyn_cast<FloatType>(op.getResult().getType().getElementType());
  bool isLinear = from && to && (from.getWidth() <= to.getWidth() || op.getRoundBeforeReduce());
  return isLinear ? LinearSets{{0}} : LinearSets{};
}

/// Sets of operands, besides the linear sets: if all operands of a set are 0, the result is 0.
template <typename Op> LinearSets getZeroSets(Op op) {
  return {};
}
LinearSets getZeroSets(DivOp op) {
  return isa<FloatType>(op.getResult().getType().getElementType()) ? LinearSets{} : LinearSets{{0}};
}
LinearSets getZeroSets(SqrtOp) {
  return {{0}};
}
LinearSets getZeroSets(TanhOp) {
  return {{0}};
}
LinearSets getZeroSets(ErfOp) {
  return {{0}};
}
LinearSets getZeroSets(SinOp) {
  return {{0}};
}
LinearSets getZeroSets(FloorOp) {
  return {{0}};
}
LinearSets getZeroSets(CastOp) {
  return {{0}};
}
LinearSets getZeroSets(MaximumOp) {
  return {{0, 1}};
}
LinearSets getZeroSets(MinimumOp) {
  return {{0, 1}};
}
/// All operands that have dimensions, if the function is 0 where these operands are 0.
LinearSets getZeroSets(ApplyOp op);

template <typename Op>
struct ElementwiseRule : ShardingRuleOpInterface::ExternalModel<ElementwiseRule<Op>, Op> {
  dist::ShardingRule getShardingRule(Operation *op) const {
    dist::ShardingRule rule = buildRuleByName(op);
    rule.linearSets = getLinearSets(cast<Op>(op));
    rule.zeroSets = getZeroSets(cast<Op>(op));
    for (dist::Factor &factor : rule.factors) {
      // Results depend on the global index along the factor: iota, random numbers.
      factor.isPositional = isa<PositionalOpInterface>(op);
      if (isa<RandomOp>(op)) // padding would change the numbers
        factor.padding = dist::Padding::Forbidden;
    }
    auto result = cast<NamedTensorType>(op->getResult(0).getType());
    // Elementwise operations also work on flat storage, which has no dimensions. So they depend on
    // no index, and all operands but scalars have the dimensions of the result.
    rule.isElementwise = op->getNumOperands() > 0 && !isa<RandomOp>(op) &&
                         llvm::all_of(op->getOperandTypes(), [&](Type type) {
                           auto operand = cast<NamedTensorType>(type);
                           return operand.getRank() == 0 || operand.getDims() == result.getDims();
                         });
    return rule;
  }
};

/// Evaluates a scalar function on operands that are zero or unknown.
class KnownNumbers {
public:
  void setZero(Value value) { known[value] = 0; }
  bool isZero(Value value) const { return known.contains(value) && known.lookup(value) == 0; }

  void visit(Operation *step) {
    Value result = step->getResult(0);
    SmallVector<double> in;
    for (Value operand : step->getOperands())
      if (known.contains(operand))
        in.push_back(known.lookup(operand));
    if (in.size() == step->getNumOperands()) {
      double out = 0;
      cast<ScalarOpInterface>(step).evaluateElement(in, out);
      known[result] = out;
      return;
    }
    if (auto select = dyn_cast<SelectOp>(step); select && known.contains(select.getCondition())) {
      Value chosen =
          known.lookup(select.getCondition()) != 0 ? select.getWhenTrue() : select.getWhenFalse();
      if (known.contains(chosen))
        known[result] = known.lookup(chosen);
      return;
    }
    if (givesZero(step))
      known[result] = 0;
  }

private:
  bool givesZero(Operation *step) const {
    dist::ShardingRule rule = cast<ShardingRuleOpInterface>(step).getShardingRule();
    for (const LinearSets &sets : {rule.linearSets, rule.zeroSets})
      for (const std::vector<unsigned> &set : sets)
        if (llvm::all_of(set, [&](unsigned i) { return isZero(step->getOperand(i)); }))
          return true;
    return false;
  }

  llvm::DenseMap<Value, double> known;
};

LinearSets getZeroSets(ApplyOp op) {
  std::vector<unsigned> ranked;
  KnownNumbers numbers;
  ScalarFunctionOp callee = op.getCallee();
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    if (cast<NamedTensorType>(input.getType()).getRank() > 0) {
      ranked.push_back(i);
      numbers.setZero(callee.getBody().getArgument(i));
    }
  for (Operation *step : callee.getSteps())
    numbers.visit(step);
  bool allZero = llvm::all_of(callee.getYield().getValues(),
                              [&](Value value) { return numbers.isZero(value); });
  return allZero ? LinearSets{ranked} : LinearSets{};
}

template <typename... Ops> void attachTo(MLIRContext &context) {
  (Ops::template attachInterface<ElementwiseRule<Ops>>(context), ...);
}

} // namespace

void ir::attachElementwiseShardingRules(MLIRContext &context) {
  attachTo<NegOp, ExpOp, LogOp, SqrtOp, RsqrtOp, TanhOp, SigmoidOp, ErfOp, SinOp, CosOp, FloorOp,
           AddOp, SubOp, MulOp, DivOp, PowOp, MaximumOp, MinimumOp, CompareOp, SelectOp, CastOp,
           CopyOp, ExpandOp, ConstantOp, IotaOp, RandomOp, ApplyOp>(context);
}
