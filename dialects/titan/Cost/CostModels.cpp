// Counts the floating-point operations of each operation.

#include "dialects/titan/Cost/Cost.h"
#include "dialects/titan/IR/TensorType.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

template <typename Model, typename Op>
using CostModelBase = CostOpInterface::ExternalModel<Model, Op>;

double countElements(Value value, const dist::Degrees &degrees) {
  return static_cast<double>(dist::getLocalNumElements(getTensorType(value), degrees));
}

/// One operation per element of the result.
template <typename Op> struct ElementwiseCost : CostModelBase<ElementwiseCost<Op>, Op> {
  double getFlops(Operation *op, const dist::Degrees &degrees) const {
    return countElements(op->getResult(0), degrees);
  }
};

template <typename Op> struct SpecialFunctionCost : CostModelBase<SpecialFunctionCost<Op>, Op> {
  double getFlops(Operation *op, const dist::Degrees &degrees) const {
    return countElements(op->getResult(0), degrees);
  }
  double getSpecialFlops(Operation *op, const dist::Degrees &degrees) const {
    return getFlops(op, degrees);
  }
};

/// Counts the function's operations that depend on an element, once per element. All other
/// operations are computed once and do not count.
struct ApplyCost : CostModelBase<ApplyCost, ApplyOp> {
  double getFlops(Operation *op, const dist::Degrees &degrees) const {
    return count(op, degrees, [&](CostOpInterface cost) { return cost.getFlops(degrees); });
  }
  double getSpecialFlops(Operation *op, const dist::Degrees &degrees) const {
    return count(op, degrees, [&](CostOpInterface cost) { return cost.getSpecialFlops(degrees); });
  }

private:
  double count(Operation *op, const dist::Degrees &degrees,
               llvm::function_ref<double(CostOpInterface)> countStep) const {
    auto apply = cast<ApplyOp>(op);
    ScalarFunctionOp callee = apply.getCallee();
    llvm::DenseSet<Value> varying;
    for (auto [input, argument] :
         llvm::zip_equal(apply.getInputs(), callee.getBody().getArguments()))
      if (getTensorType(input).getRank() > 0)
        varying.insert(argument);
    double each = 0;
    for (Operation *step : callee.getSteps()) {
      if (llvm::none_of(step->getOperands(), [&](Value v) { return varying.contains(v); }))
        continue;
      varying.insert(step->getResult(0));
      if (auto cost = dyn_cast<CostOpInterface>(step))
        each += countStep(cost);
    }
    return each * countElements(op->getResult(0), degrees);
  }
};

struct ReduceCost : CostModelBase<ReduceCost, ReduceOp> {
  double getFlops(Operation *op, const dist::Degrees &degrees) const {
    return countElements(op->getOperand(0), degrees);
  }
};

/// Size of the joint index space of two tensors.
double countIndexSpace(Value lhs, Value rhs, const dist::Degrees &degrees) {
  NamedTensorType left = getTensorType(lhs), right = getTensorType(rhs);
  double points = countElements(lhs, degrees);
  if (left.getShardingOrReplicated().isFlat())
    return points;
  for (auto [dim, size] : llvm::zip_equal(right.getDims(), dist::getLocalShape(right, degrees)))
    if (!left.hasDim(dim.getName()))
      points *= static_cast<double>(size);
  return points;
}

/// A multiplication and an addition per point.
struct ContractCost : CostModelBase<ContractCost, ContractOp> {
  double getFlops(Operation *op, const dist::Degrees &degrees) const {
    return 2 * countIndexSpace(op->getOperand(0), op->getOperand(1), degrees);
  }
};

/// As titan.contract over the rows, of which each selects one element of the whole table.
struct GroupedContractCost : CostModelBase<GroupedContractCost, GroupedContractOp> {
  double getFlops(Operation *op, const dist::Degrees &degrees) const {
    auto grouped = cast<GroupedContractOp>(op);
    llvm::DenseSet<StringAttr> seen;
    double points = 1;
    for (Value value : {Value(grouped.getTable()), Value(grouped.getLhs()),
                        Value(grouped.getOtherRows()), Value(grouped.getIndices())}) {
      NamedTensorType type = getTensorType(value);
      for (auto [dim, size] : llvm::zip_equal(type.getDims(), dist::getLocalShape(type, degrees)))
        if (seen.insert(dim.getName()).second)
          points *= static_cast<double>(size);
    }
    for (DimAttr dim : getTensorType(grouped.getTable()).getDims())
      if (dim.getName() == grouped.getAlongAttr() ||
          grouped.getIndices().getType().hasDim(dim.getName()))
        points /= static_cast<double>(dim.getSize());
    return 2 * points;
  }
};

/// An addition per update.
struct ScatterCost : CostModelBase<ScatterCost, ScatterOp> {
  double getFlops(Operation *op, const dist::Degrees &degrees) const {
    return countIndexSpace(op->getOperand(0), op->getOperand(1), degrees);
  }
};

/// The average number of keys that a query attends to, of `n` positions; documents are unknown
/// here.
double countVisible(double n, bool causal, std::optional<int64_t> window) {
  double w = std::min(n, window ? static_cast<double>(*window) : n);
  double before = w * (w - 1) / 2 + (n - w) * (w - 1); // pairs j < i
  return (n + (causal ? 1 : 2) * before) / n;
}

/// Pairs of a query and a visible key, times two (a multiplication and an addition), times the
/// remaining dimension of the product: the head of q and k, or the head of v. A step of a ring has
/// its share of the pairs.
template <typename Op> struct ScoreProducts {
  ScoreProducts(Op op, const dist::Degrees &degrees) {
    NamedTensorType q = op.getQuery().getType();
    auto getSize = [&](int64_t dim) { return static_cast<double>(q.getDims()[dim].getSize()); };
    int64_t head = q.findDimIndex(op.getHeadAttr()), along = q.findDimIndex(op.getAlongAttr());
    double rows = countElements(op.getQuery(), degrees) / getSize(head);
    NamedTensorType k = op.getKey().getType();
    auto keys =
        static_cast<double>(dist::getLocalShape(k, degrees)[k.findDimIndex(op.getAlongAttr())]);
    double pairs = 2 * rows * countVisible(getSize(along), op.getCausal(), op.getWindow()) * keys /
                   getSize(along);
    overHead = pairs * getSize(head);
    overValueHead = pairs * static_cast<double>(op.getValueHead().getSize());
  }
  double overHead, overValueHead;
};

struct AttentionCost : CostModelBase<AttentionCost, AttentionOp> {
  double getFlops(Operation *op, const dist::Degrees &degrees) const {
    ScoreProducts products(cast<AttentionOp>(op), degrees);
    return products.overHead + products.overValueHead;
  }
};

/// The recomputed scores, the cotangents of queries and keys, and those of scores and values.
struct AttentionGradCost : CostModelBase<AttentionGradCost, AttentionGradOp> {
  double getFlops(Operation *op, const dist::Degrees &degrees) const {
    ScoreProducts products(cast<AttentionGradOp>(op), degrees);
    return 3 * products.overHead + 2 * products.overValueHead;
  }
};

/// k passes over each row.
struct TopKCost : CostModelBase<TopKCost, TopKOp> {
  double getFlops(Operation *op, const dist::Degrees &degrees) const {
    auto topK = cast<TopKOp>(op);
    NamedTensorType input = topK.getInput().getType();
    int64_t n = input.getDims()[input.findDimIndex(topK.getAlongAttr())].getSize();
    return countElements(topK.getValues(), degrees) * static_cast<double>(n);
  }
};

/// Two multiplications and an addition per element.
struct RotaryCost : CostModelBase<RotaryCost, RotaryOp> {
  double getFlops(Operation *op, const dist::Degrees &degrees) const {
    return 3 * countElements(op->getResult(0), degrees);
  }
};

/// Philox is integer arithmetic, and its bits are scaled once. A normal number also takes the ln,
/// sqrt, cos and three products of Box and Muller (base/random/Philox.h, `normal`).
struct RandomCost : CostModelBase<RandomCost, RandomOp> {
  double getFlops(Operation *op, const dist::Degrees &degrees) const {
    double each = cast<RandomOp>(op).getKind() == RandomKind::Normal ? 7 : 1;
    return each * countElements(op->getResult(0), degrees);
  }
};

template <typename... Ops> void attachElementwise(MLIRContext *context) {
  (Ops::template attachInterface<ElementwiseCost<Ops>>(*context), ...);
}

template <typename... Ops> void attachSpecial(MLIRContext *context) {
  (Ops::template attachInterface<SpecialFunctionCost<Ops>>(*context), ...);
}

} // namespace

void ir::registerCostModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TitanDialect *) {
    attachElementwise<NegOp, SqrtOp, RsqrtOp, FloorOp, AddOp, SubOp, MulOp, DivOp, MaximumOp,
                      MinimumOp, CompareOp, SelectOp, CumulativeSumOp>(context);
    attachSpecial<ExpOp, LogOp, TanhOp, SigmoidOp, ErfOp, SinOp, CosOp, PowOp>(context);
    ApplyOp::attachInterface<ApplyCost>(*context);
    ReduceOp::attachInterface<ReduceCost>(*context);
    ContractOp::attachInterface<ContractCost>(*context);
    GroupedContractOp::attachInterface<GroupedContractCost>(*context);
    ScatterOp::attachInterface<ScatterCost>(*context);
    AttentionOp::attachInterface<AttentionCost>(*context);
    AttentionGradOp::attachInterface<AttentionGradCost>(*context);
    RotaryOp::attachInterface<RotaryCost>(*context);
    TopKOp::attachInterface<TopKCost>(*context);
    RandomOp::attachInterface<RandomCost>(*context);
  });
}
