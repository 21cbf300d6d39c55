// Operations that depend on an order of elements.

#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Onnx/OnnxModels.h"

using namespace mlir;
using namespace titan;
using namespace titan::onnx;

namespace {

struct TopKModel : OnnxOpInterface::ExternalModel<TopKModel, ir::TopKOp> {
  LogicalResult translateToOnnx(Operation *op, Translation &translation) const {
    auto top = cast<ir::TopKOp>(op);
    const Tensor input = translation.get(top.getInput());
    const SmallVector<Axis> axes = translation.getAxes(top.getValues().getType());
    SmallVector<Axis> order(axes);
    int64_t at = 0;
    for (auto [i, axis] : llvm::enumerate(order))
      if (!input.has(axis.name)) {
        at = static_cast<int64_t>(i);
        axis = input.axes[input.find(top.getAlongAttr())];
      }
    const std::vector<std::string> results = translation.getGraph().add(
        "TopK", {translation.transpose(input, order).name, translation.sizes(axes[at].extent)},
        {{"axis", at}}, 2);
    translation.set(top.getValues(), Tensor{results[0], input.type, axes});
    translation.set(top.getIndices(), Tensor{results[1], ElementType::I64, axes});
    return success();
  }
};

Tensor sumBefore(const Tensor &input, int64_t at, std::vector<NodeAttribute> attributes,
                 Translation &translation) {
  return translation.add("CumSum", {input.name, translation.getGraph().addInteger(at)}, input.axes,
                         input.type, std::move(attributes));
}

struct CumulativeSumModel : OneResult<CumulativeSumModel, ir::CumulativeSumOp> {
  static Tensor build(ir::CumulativeSumOp op, Translation &translation) {
    const Tensor input = translation.transpose(translation.get(op.getInput()),
                                               translation.getAxes(op.getResult().getType()));
    return sumBefore(input, input.find(op.getAlongAttr()),
                     {{"reverse", static_cast<int64_t>(op.getReverse())}}, translation);
  }
};

/// A row of truth values for each index, and the number of earlier rows that have it.
struct CumulativeCountModel
    : OnnxOpInterface::ExternalModel<CumulativeCountModel, ir::CumulativeCountOp> {
  LogicalResult translateToOnnx(Operation *op, Translation &translation) const {
    auto count = cast<ir::CumulativeCountOp>(op);
    const Tensor input = translation.get(count.getInput());
    SmallVector<Axis> order, counted;
    for (Attribute name : count.getOver())
      counted.push_back(input.axes[input.find(cast<StringAttr>(name))]);
    for (const Axis &axis : input.axes)
      if (llvm::none_of(counted, [&](const Axis &other) { return other.name == axis.name; }))
        order.push_back(axis);
    const int64_t at = static_cast<int64_t>(order.size());
    if (llvm::count_if(counted, [](const Axis &axis) { return !axis.extent.isKnown(); }) > 1)
      return op->emitError("a count over two dimensions without known sizes has no translation "
                           "to ONNX");
    SmallVector<Axis> merged(order);
    merged.push_back(Translation::merge(counted));
    order.append(counted);
    const Tensor rows = translation.reshape(translation.transpose(input, order), merged);
    const Axis along{StringAttr::get(op->getContext(), count.getAlong() + ".counted"),
                     {static_cast<int64_t>(count.getSize()), {}}};
    const SmallVector<Axis> all = Translation::join(merged, along);
    const Tensor isIndex =
        translation.map("Equal", {rows, translation.iota(along)}, all, ElementType::Bool);
    const Tensor before = sumBefore(translation.cast(isIndex, ElementType::I64), at,
                                    {{"exclusive", int64_t{1}}}, translation);
    const Tensor own =
        translation.select(isIndex, before, translation.number(ElementType::I64, 0), all);
    const Tensor result = translation.reshape(translation.reduce("ReduceSum", own, merged), order);
    translation.set(
        count.getResult(),
        translation.transpose(result, translation.getAxes(count.getResult().getType())));
    return success();
  }
};

} // namespace

void onnx::attachOrderModels(MLIRContext &context) {
  ir::TopKOp::attachInterface<TopKModel>(context);
  ir::CumulativeSumOp::attachInterface<CumulativeSumModel>(context);
  ir::CumulativeCountOp::attachInterface<CumulativeCountModel>(context);
}
