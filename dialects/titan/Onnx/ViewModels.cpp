// Operations that keep, rename, cut or join elements.

#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Onnx/OnnxModels.h"

using namespace mlir;
using namespace titan;
using namespace titan::onnx;

namespace {

/// The operand, with the dimensions of the result in their order.
template <typename Op> struct IdentityModel : OneResult<IdentityModel<Op>, Op> {
  static Tensor build(Op op, Translation &translation) {
    return translation.transpose(translation.get(op.getInput()),
                                 translation.getAxes(op.getResult().getType()));
  }
};

struct RenameModel : OneResult<RenameModel, ir::RenameOp> {
  static Tensor build(ir::RenameOp op, Translation &translation) {
    Tensor renamed = translation.get(op.getInput());
    for (auto [axis, dim] : llvm::zip_equal(renamed.axes, op.getResult().getType().getDims()))
      axis.name = dim.getName();
    return renamed;
  }
};

/// A split or merge of dimensions.
template <typename Op> struct ReshapeModel : OneResult<ReshapeModel<Op>, Op> {
  static Tensor build(Op op, Translation &translation) {
    return translation.reshape(translation.get(op.getInput()),
                               translation.getAxes(op.getResult().getType()));
  }
};

struct SliceModel : OneResult<SliceModel, ir::SliceOp> {
  static Tensor build(ir::SliceOp op, Translation &translation) {
    const Tensor operand = translation.get(op.getInput());
    const int64_t at = operand.find(op.getDimAttr());
    return translation.slice(operand, op.getDimAttr(), static_cast<int64_t>(op.getOffset()),
                             translation.getAxes(op.getResult().getType())[at]);
  }
};

struct PadModel : OneResult<PadModel, ir::PadOp> {
  /// The size of an axis and the operand's part of it determine what follows the part. All axes are
  /// listed: optimizers of ONNX Runtime overlook that `axes` may name some.
  static Tensor build(ir::PadOp op, Translation &translation) {
    Tensor operand = translation.get(op.getInput());
    const ir::NamedTensorType type = op.getResult().getType();
    const SmallVector<Axis> axes = translation.getAxes(type);
    const size_t at = type.findDimIndex(op.getDimAttr());
    SmallVector<Extent> padding(2 * axes.size());
    const Extent before{static_cast<int64_t>(op.getOffset()), {}};
    padding[at] = before;
    padding[axes.size() + at] = axes[at].extent - operand.axes[at].extent - before;
    const bool isBool = operand.type == ElementType::Bool; // runtimes pad numbers
    if (isBool)
      operand = translation.cast(operand, ElementType::I64);
    const Tensor padded = translation.add(
        "Pad", {operand.name, translation.sizes(padding), translation.number(operand.type, 0).name},
        axes, operand.type);
    return isBool ? translation.cast(padded, ElementType::Bool) : padded;
  }
};

/// Rows that follow those of a cache. The positions of the program begin after those of its caches.
struct InsertSliceModel : OnnxOpInterface::ExternalModel<InsertSliceModel, ir::InsertSliceOp> {
  LogicalResult translateToOnnx(Operation *op, Translation &translation) const {
    auto insert = cast<ir::InsertSliceOp>(op);
    if (!translation.isCache(insert.getInto()))
      return op->emitError("`insert_slice` has a translation to ONNX for caches only");
    const SmallVector<Axis> axes = translation.getAxes(insert.getResult().getType());
    const int64_t at = insert.getResult().getType().findDimIndex(insert.getDimAttr());
    const Tensor rows = translation.transpose(translation.get(insert.getInput()), axes);
    translation.set(insert.getResult(),
                    translation.concatenate({translation.get(insert.getInto()), rows}, axes[at]));
    return success();
  }
};

template <template <typename> class Model, typename... Ops> void attachAll(MLIRContext &context) {
  (Ops::template attachInterface<Model<Ops>>(context), ...);
}

} // namespace

void onnx::attachViewModels(MLIRContext &context) {
  attachAll<IdentityModel, ir::ShardingConstraintOp, ir::StopGradientOp, ir::CopyOp,
            ir::CheckIndexOp>(context);
  attachAll<ReshapeModel, ir::SplitOp, ir::MergeOp>(context);
  ir::RenameOp::attachInterface<RenameModel>(context);
  ir::SliceOp::attachInterface<SliceModel>(context);
  ir::PadOp::attachInterface<PadModel>(context);
  ir::InsertSliceOp::attachInterface<InsertSliceModel>(context);
}
