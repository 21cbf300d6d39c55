//===- CostModels.cpp - Models of CostOpInterface -------------------------===//

#include "dialects/titan/Cost/Cost.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

template <typename Model, typename Op> using Base = CostOpInterface::ExternalModel<Model, Op>;

NamedTensorType typeOf(Value value) {
  return cast<NamedTensorType>(value.getType());
}

double elements(Value value, const dist::Degrees &degrees) {
  return static_cast<double>(dist::getLocalNumElements(typeOf(value), degrees));
}

/// One operation per element of the result.
template <typename Op> struct ElementwiseCost : Base<ElementwiseCost<Op>, Op> {
  double getFlops(Operation *op, const dist::Degrees &degrees) const {
    return elements(op->getResult(0), degrees);
  }
};

/// The update as written in the operation's description: 4 for the moments, 1 for the scale, 7 for
/// the parameter and its decay.
struct AdamWCost : Base<AdamWCost, AdamWOp> {
  double getFlops(Operation *op, const dist::Degrees &degrees) const {
    return 12 * elements(op->getResult(0), degrees);
  }
};

struct ReduceCost : Base<ReduceCost, ReduceOp> {
  double getFlops(Operation *op, const dist::Degrees &degrees) const {
    return elements(op->getOperand(0), degrees);
  }
};

/// Two operations for every point of the joined index space.
struct ContractCost : Base<ContractCost, ContractOp> {
  double getFlops(Operation *op, const dist::Degrees &degrees) const {
    auto contract = cast<ContractOp>(op);
    NamedTensorType lhs = contract.getLhs().getType(), rhs = contract.getRhs().getType();
    double points = elements(contract.getLhs(), degrees);
    if (lhs.getShardingOrReplicated().isFlat())
      return 2 * points;
    SmallVector<int64_t> shape = dist::getLocalShape(rhs, degrees);
    for (auto [dim, size] : llvm::zip_equal(rhs.getDims(), shape))
      if (!lhs.hasDim(dim.getName()))
        points *= static_cast<double>(size);
    return 2 * points;
  }
};

/// A product with the scores: every query meets the keys that the mask leaves it.
template <typename Op> double scoreProduct(Op op, const dist::Degrees &degrees) {
  NamedTensorType q = op.getQuery().getType();
  int64_t positions = dist::getLocalShape(q, degrees)[q.indexOf(op.getAlongAttr())];
  double keys = op.getCausal() ? (positions + 1) / 2.0 : static_cast<double>(positions);
  return 2 * elements(op.getQuery(), degrees) * keys;
}

struct AttentionCost : Base<AttentionCost, AttentionOp> {
  double getFlops(Operation *op, const dist::Degrees &degrees) const {
    return 2 * scoreProduct(cast<AttentionOp>(op), degrees);
  }
};

/// The scores again, then the cotangents of scores, values, queries and keys.
struct AttentionGradCost : Base<AttentionGradCost, AttentionGradOp> {
  double getFlops(Operation *op, const dist::Degrees &degrees) const {
    return 5 * scoreProduct(cast<AttentionGradOp>(op), degrees);
  }
};

/// Two multiplications and an addition for every element.
struct RotaryCost : Base<RotaryCost, RotaryOp> {
  double getFlops(Operation *op, const dist::Degrees &degrees) const {
    return 3 * elements(op->getResult(0), degrees);
  }
};

template <typename... Ops> void attachElementwise(MLIRContext *context) {
  (Ops::template attachInterface<ElementwiseCost<Ops>>(*context), ...);
}

} // namespace

void ir::registerCostModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TitanDialect *) {
    attachElementwise<NegOp, ExpOp, LogOp, SqrtOp, RsqrtOp, TanhOp, SigmoidOp, ErfOp, SinOp, CosOp,
                      AddOp, SubOp, MulOp, DivOp, MaximumOp, MinimumOp, CompareOp, SelectOp>(context);
    AdamWOp::attachInterface<AdamWCost>(*context);
    ReduceOp::attachInterface<ReduceCost>(*context);
    ContractOp::attachInterface<ContractCost>(*context);
    AttentionOp::attachInterface<AttentionCost>(*context);
    AttentionGradOp::attachInterface<AttentionGradCost>(*context);
    RotaryOp::attachInterface<RotaryCost>(*context);
  });
}
