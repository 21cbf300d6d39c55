// Contractions, reductions and indexing.

#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Onnx/OnnxModels.h"

using namespace mlir;
using namespace titan;
using namespace titan::onnx;

namespace {

/// `tensor` added to `into`, if there is one.
Tensor addInto(Value into, const Tensor &tensor, Translation &translation) {
  if (!into)
    return tensor;
  return translation.map("Add", {translation.get(into), tensor}, tensor.axes, tensor.type);
}

struct ContractModel : OneResult<ContractModel, ir::ContractOp> {
  static Tensor build(ir::ContractOp op, Translation &translation) {
    const ir::NamedTensorType type = op.getResult().getType();
    const ElementType element = translation.getType(type);
    const Tensor product = translation.contract(
        translation.cast(translation.get(op.getLhs()), element),
        translation.cast(translation.get(op.getRhs()), element), translation.getAxes(type));
    return addInto(op.getInto(), product, translation);
  }
};

struct ReduceModel : OneResult<ReduceModel, ir::ReduceOp> {
  static StringRef getOperator(dist::ReductionKind kind) {
    switch (kind) {
    case dist::ReductionKind::Sum:
      return "ReduceSum";
    case dist::ReductionKind::Max:
      return "ReduceMax";
    case dist::ReductionKind::Min:
      return "ReduceMin";
    }
    return "";
  }
  static Tensor build(ir::ReduceOp op, Translation &translation) {
    const ir::NamedTensorType type = op.getResult().getType();
    return translation.reduce(
        getOperator(op.getKind()),
        translation.cast(translation.get(op.getInput()), translation.getType(type)),
        translation.getAxes(type));
  }
};

struct GatherModel : OneResult<GatherModel, ir::GatherOp> {
  static Tensor build(ir::GatherOp op, Translation &translation) {
    return translation.gather(translation.get(op.getInput()), translation.get(op.getIndices()),
                              op.getAlongAttr(), translation.getAxes(op.getResult().getType()));
  }
};

/// A sum over the updates whose index is that of the element: exact, also where several updates
/// have the same index.
struct ScatterModel : OneResult<ScatterModel, ir::ScatterOp> {
  static Tensor build(ir::ScatterOp op, Translation &translation) {
    const ir::NamedTensorType type = op.getResult().getType();
    const ElementType element = translation.getType(type);
    const Tensor updates = translation.cast(translation.get(op.getUpdates()), element);
    const Tensor indices = translation.get(op.getIndices());
    const Axis along = translation.getAxes(type)[type.findDimIndex(op.getAlongAttr())];
    const SmallVector<Axis> chosen = Translation::join(indices.axes, along);
    const Tensor isHere =
        translation.map("Equal", {indices, translation.iota(along)}, chosen, ElementType::Bool);
    const SmallVector<Axis> all = Translation::join(updates.axes, chosen);
    const Tensor selected =
        translation.select(isHere, updates, translation.number(element, 0), all);
    const Tensor sum = translation.reduce("ReduceSum", selected, translation.getAxes(type));
    return addInto(op.getInto(), sum, translation);
  }
};

/// The product of each row with the element of the table that its index selects.
struct GroupedContractModel
    : OnnxOpInterface::ExternalModel<GroupedContractModel, ir::GroupedContractOp> {
  LogicalResult translateToOnnx(Operation *op, Translation &translation) const {
    auto grouped = cast<ir::GroupedContractOp>(op);
    if (grouped.getTable() != grouped.getRhs())
      return op->emitError("`grouped_contract` has a translation to ONNX for tables that are read");
    const Tensor table = translation.get(grouped.getRhs());
    const Tensor indices = translation.get(grouped.getIndices());
    SmallVector<Axis> rest = table.axes;
    rest.erase(rest.begin() + table.find(grouped.getAlongAttr()));
    const Tensor rows = translation.gather(table, indices, grouped.getAlongAttr(),
                                           Translation::join(indices.axes, rest));
    const Tensor product = translation.contract(translation.get(grouped.getLhs()), rows,
                                                translation.getAxes(grouped.getResult().getType()));
    translation.set(grouped.getResult(), addInto(grouped.getInto(), product, translation));
    return success();
  }
};

} // namespace

void onnx::attachTensorModels(MLIRContext &context) {
  ir::ContractOp::attachInterface<ContractModel>(context);
  ir::ReduceOp::attachInterface<ReduceModel>(context);
  ir::GatherOp::attachInterface<GatherModel>(context);
  ir::ScatterOp::attachInterface<ScatterModel>(context);
  ir::GroupedContractOp::attachInterface<GroupedContractModel>(context);
}
