// Elementwise operations.

#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Onnx/OnnxModels.h"

using namespace mlir;
using namespace titan;
using namespace titan::onnx;

namespace {

/// The operator with the same meaning as an operation; null: there is none.
template <typename Op> constexpr const char *operatorOf = nullptr;
template <> constexpr const char *operatorOf<ir::NegOp> = "Neg";
template <> constexpr const char *operatorOf<ir::ExpOp> = "Exp";
template <> constexpr const char *operatorOf<ir::LogOp> = "Log";
template <> constexpr const char *operatorOf<ir::SqrtOp> = "Sqrt";
template <> constexpr const char *operatorOf<ir::TanhOp> = "Tanh";
template <> constexpr const char *operatorOf<ir::SigmoidOp> = "Sigmoid";
template <> constexpr const char *operatorOf<ir::ErfOp> = "Erf";
template <> constexpr const char *operatorOf<ir::SinOp> = "Sin";
template <> constexpr const char *operatorOf<ir::CosOp> = "Cos";
template <> constexpr const char *operatorOf<ir::FloorOp> = "Floor";
template <> constexpr const char *operatorOf<ir::AddOp> = "Add";
template <> constexpr const char *operatorOf<ir::SubOp> = "Sub";
template <> constexpr const char *operatorOf<ir::MulOp> = "Mul";
template <> constexpr const char *operatorOf<ir::DivOp> = "Div";
template <> constexpr const char *operatorOf<ir::MaximumOp> = "Max";
template <> constexpr const char *operatorOf<ir::MinimumOp> = "Min";
template <> constexpr const char *operatorOf<ir::PowOp> = "Pow";

/// The tensor of one operator on all operands.
Tensor mapOperands(StringRef op, Operation *from, Translation &translation) {
  const SmallVector<Tensor> operands = llvm::map_to_vector(
      from->getOperands(), [&](Value operand) { return translation.get(operand); });
  const ir::NamedTensorType type = ir::getTensorType(from->getResult(0));
  return translation.map(op, operands, translation.getAxes(type), translation.getType(type));
}

/// The same for truth values, which are the numbers 0 and 1; null: there is none.
template <typename Op> constexpr const char *logicalOperatorOf = nullptr;
template <> constexpr const char *logicalOperatorOf<ir::MulOp> = "And";
template <> constexpr const char *logicalOperatorOf<ir::MinimumOp> = "And";
template <> constexpr const char *logicalOperatorOf<ir::MaximumOp> = "Or";

template <typename Op>
struct OperatorModel : OnnxOpInterface::ExternalModel<OperatorModel<Op>, Op> {
  LogicalResult translateToOnnx(Operation *op, Translation &translation) const {
    const bool isLogical =
        translation.getType(ir::getTensorType(op->getResult(0))) == ElementType::Bool;
    const char *const name = isLogical ? logicalOperatorOf<Op> : operatorOf<Op>;
    if (!name)
      return op->emitError("`" + op->getName().stripDialect() +
                           "` of truth values has no translation to ONNX");
    translation.set(op->getResult(0), mapOperands(name, op, translation));
    return success();
  }
};

struct RsqrtModel : OneResult<RsqrtModel, ir::RsqrtOp> {
  static Tensor build(ir::RsqrtOp op, Translation &translation) {
    const Tensor root = mapOperands("Sqrt", op, translation);
    return translation.map("Reciprocal", root, root.axes, root.type);
  }
};

struct CompareModel : OneResult<CompareModel, ir::CompareOp> {
  static StringRef getOperator(ir::ComparePredicate predicate) {
    switch (predicate) {
    case ir::ComparePredicate::EQ:
    case ir::ComparePredicate::NE: // its negation
      return "Equal";
    case ir::ComparePredicate::LT:
      return "Less";
    case ir::ComparePredicate::LE:
      return "LessOrEqual";
    case ir::ComparePredicate::GT:
      return "Greater";
    case ir::ComparePredicate::GE:
      return "GreaterOrEqual";
    }
    return "";
  }
  static Tensor build(ir::CompareOp op, Translation &translation) {
    const Tensor result = mapOperands(getOperator(op.getPredicate()), op, translation);
    return op.getPredicate() == ir::ComparePredicate::NE
               ? translation.map("Not", result, result.axes, result.type)
               : result;
  }
};

struct SelectModel : OneResult<SelectModel, ir::SelectOp> {
  static Tensor build(ir::SelectOp op, Translation &translation) {
    return translation.select(translation.get(op.getCondition()), translation.get(op.getWhenTrue()),
                              translation.get(op.getWhenFalse()),
                              translation.getAxes(op.getResult().getType()));
  }
};

struct CastModel : OneResult<CastModel, ir::CastOp> {
  static Tensor build(ir::CastOp op, Translation &translation) {
    const ir::NamedTensorType type = op.getResult().getType();
    return translation.cast(
        translation.transpose(translation.get(op.getInput()), translation.getAxes(type)),
        translation.getType(type));
  }
};

struct ExpandModel : OneResult<ExpandModel, ir::ExpandOp> {
  static Tensor build(ir::ExpandOp op, Translation &translation) {
    return translation.expand(translation.get(op.getInput()),
                              translation.getAxes(op.getResult().getType()));
  }
};

struct ConstantModel : OneResult<ConstantModel, ir::ConstantOp> {
  static Tensor build(ir::ConstantOp op, Translation &translation) {
    const ElementType type = translation.getType(op.getResult().getType());
    if (type == ElementType::I64)
      return {translation.getGraph().addInteger(op.getInteger()), type, {}};
    return translation.number(type, op.getNumber());
  }
};

struct IotaModel : OneResult<IotaModel, ir::IotaOp> {
  static Tensor build(ir::IotaOp op, Translation &translation) {
    return translation.iota(translation.getAxes(op.getResult().getType()).front());
  }
};

template <typename... Ops> void attachOperators(MLIRContext &context) {
  (Ops::template attachInterface<OperatorModel<Ops>>(context), ...);
}

} // namespace

void onnx::attachElementwiseModels(MLIRContext &context) {
  attachOperators<ir::NegOp, ir::ExpOp, ir::LogOp, ir::SqrtOp, ir::TanhOp, ir::SigmoidOp, ir::ErfOp,
                  ir::SinOp, ir::CosOp, ir::FloorOp, ir::AddOp, ir::SubOp, ir::MulOp, ir::DivOp,
                  ir::MaximumOp, ir::MinimumOp, ir::PowOp>(context);
  ir::RsqrtOp::attachInterface<RsqrtModel>(context);
  ir::CompareOp::attachInterface<CompareModel>(context);
  ir::SelectOp::attachInterface<SelectModel>(context);
  ir::CastOp::attachInterface<CastModel>(context);
  ir::ExpandOp::attachInterface<ExpandModel>(context);
  ir::ConstantOp::attachInterface<ConstantModel>(context);
  ir::IotaOp::attachInterface<IotaModel>(context);
}
