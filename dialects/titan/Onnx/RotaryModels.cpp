// Rotary position embeddings.

#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Onnx/OnnxModels.h"

using namespace mlir;
using namespace titan;
using namespace titan::onnx;

namespace {

class RotationGraph {
public:
  RotationGraph(ir::RotaryOp op, Translation &translation)
      : op(op), translation(translation), input(translation.get(op.getInput())),
        pairs{op.getDimAttr(), {static_cast<int64_t>(op.getRadians().size()), {}}} {}

  Tensor build() {
    const int64_t distance = op.getInterleaved() ? 1 : pairs.extent.constant;
    const int64_t step = op.getInterleaved() ? 2 : 1;
    const Tensor x = translation.slice(input, op.getDimAttr(), 0, pairs, step);
    const Tensor y = translation.slice(input, op.getDimAttr(), distance, pairs, step);
    const Tensor angles = getAngles();
    const Tensor c = translation.cast(map("Cos", angles), input.type);
    Tensor s = translation.cast(map("Sin", angles), input.type);
    if (op.getInverse())
      s = map("Neg", s);
    return join(map("Sub", {map("Mul", {x, c}), map("Mul", {y, s})}),
                map("Add", {map("Mul", {x, s}), map("Mul", {y, c})}));
  }

private:
  /// An operator on operands of which the first has all axes.
  Tensor map(StringRef operation, ArrayRef<Tensor> operands) {
    return translation.map(operation, operands, operands.front().axes, operands.front().type);
  }

  /// Radians by position and pair. In f64, because a position times an angle in f32 has an error of
  /// 1e-3 at 10,000.
  Tensor getAngles() {
    Tensor position = translation.iota(input.axes[input.find(op.getAlongAttr())]);
    if (op.getStart()) {
      const Tensor start = translation.get(op.getStart());
      position = translation.map("Add", {position, start},
                                 Translation::join(start.axes, position.axes), ElementType::I64);
    }
    const Tensor radians{
        translation.getGraph().addNumbers(op.getRadians()), ElementType::F64, {pairs}};
    return translation.map("Mul", {translation.cast(position, ElementType::F64), radians},
                           Translation::join(position.axes, pairs), ElementType::F64);
  }

  /// The first and the second elements of pairs along the axis that they were cut from.
  Tensor join(const Tensor &first, const Tensor &second) {
    const Axis whole = input.axes[input.find(op.getDimAttr())];
    if (!op.getInterleaved())
      return translation.concatenate({first, second}, whole);
    const Axis two{StringAttr::get(op.getContext(), op.getDim() + ".two"), {2, {}}};
    SmallVector<Axis> axes(first.axes);
    axes.insert(axes.begin() + first.find(op.getDimAttr()) + 1, two);
    GraphBuilder &graph = translation.getGraph();
    const std::string at = graph.addIntegers(first.find(op.getDimAttr()) + 1);
    const Tensor halves[] = {translation.add("Unsqueeze", {first.name, at}, axes, first.type),
                             translation.add("Unsqueeze", {second.name, at}, axes, second.type)};
    return translation.reshape(translation.concatenate(halves, two), input.axes);
  }

  ir::RotaryOp op;
  Translation &translation;
  Tensor input;
  Axis pairs; ///< in place of the rotated axis
};

struct RotaryModel : OneResult<RotaryModel, ir::RotaryOp> {
  static Tensor build(ir::RotaryOp op, Translation &translation) {
    return RotationGraph(op, translation).build();
  }
};

} // namespace

void onnx::attachRotaryModels(MLIRContext &context) {
  ir::RotaryOp::attachInterface<RotaryModel>(context);
}
