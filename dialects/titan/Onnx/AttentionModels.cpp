// Attention in the operators of its definition: products, mask, softmax and weighted sums. Every
// mask, cap and grouping of queries has this form, in every version of the operators.

#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Onnx/OnnxModels.h"

#include <limits>

using namespace mlir;
using namespace titan;
using namespace titan::onnx;

namespace {

class AttentionGraph {
public:
  AttentionGraph(ir::AttentionOp op, Translation &translation)
      : op(op), translation(translation), query(translation.get(op.getQuery())),
        key(toKeys(translation.get(op.getKey()))),
        keys(StringAttr::get(op.getContext(), op.getAlong() + ".keys")) {}

  void build() {
    const Tensor scores = mask(scaleAndCap());
    const int64_t last = static_cast<int64_t>(scores.axes.size()) - 1;
    const Tensor probabilities =
        translation.add("Softmax", scores.name, scores.axes, scores.type, {{"axis", last}});
    translation.set(op.getResult(),
                    translation.contract(probabilities, toKeys(translation.get(op.getValue())),
                                         translation.getAxes(op.getResult().getType())));
    translation.set(op.getLse(), translation.reduce("ReduceLogSumExp", scores,
                                                    translation.getAxes(op.getLse().getType())));
  }

private:
  /// The operand with positions of keys, which are another axis than those of queries.
  Tensor toKeys(const Tensor &operand) {
    return translation.rename(operand, op.getAlongAttr(),
                              StringAttr::get(op.getContext(), op.getAlong() + ".keys"));
  }

  /// The axes of scores, in the order of the matrix product of queries and keys.
  SmallVector<Axis> getScoreAxes() {
    SmallVector<Axis> common, rest;
    for (const Axis &axis : query.axes)
      if (axis.name != op.getHeadAttr() && axis.name != op.getAlongAttr())
        (key.has(axis.name) ? common : rest).push_back(axis);
    common.append(rest);
    common.push_back(query.axes[query.find(op.getAlongAttr())]);
    common.push_back(key.axes[key.find(keys)]);
    return common;
  }

  Tensor scaleAndCap() {
    const double scale = op.getScale().convertToDouble();
    if (!op.getSoftCap())
      return translation.contract(multiply(query, scale), key, getScoreAxes());
    const double cap = op.getSoftCap()->convertToDouble();
    const Tensor scores = translation.contract(multiply(query, scale / cap), key, getScoreAxes());
    return multiply(translation.map("Tanh", scores, scores.axes, scores.type), cap);
  }

  Tensor multiply(const Tensor &operand, double factor) {
    return translation.map("Mul", {operand, translation.number(operand.type, factor)}, operand.axes,
                           operand.type);
  }

  Tensor mask(Tensor scores) {
    if (op.getCausal())
      scores = hide(scores, compareDistance("GreaterOrEqual", 0));
    if (op.getWindow()) {
      const int64_t window = static_cast<int64_t>(*op.getWindow());
      scores = hide(scores, compareDistance("Less", window));
      if (!op.getCausal())
        scores = hide(scores, compareDistance("Greater", -window));
    }
    if (op.getDocuments())
      scores = hide(scores, compareDocuments());
    return scores;
  }

  /// The position of each query.
  Tensor getPositions() {
    const Tensor positions = translation.iota(query.axes[query.find(op.getAlongAttr())]);
    if (!op.getStart())
      return positions;
    const Tensor start = translation.get(op.getStart());
    return translation.map("Add", {positions, start}, Translation::join(start.axes, positions.axes),
                           ElementType::I64);
  }

  /// Whether the distance from a key forward to a query compares so with a number.
  Tensor compareDistance(StringRef comparison, int64_t number) {
    const Tensor from = translation.iota(key.axes[key.find(keys)]), to = getPositions();
    const SmallVector<Axis> pairs = Translation::join(to.axes, from.axes);
    const Tensor distance = translation.map("Sub", {to, from}, pairs, ElementType::I64);
    const Tensor bound{translation.getGraph().addInteger(number), ElementType::I64, {}};
    return translation.map(comparison, {distance, bound}, pairs, ElementType::Bool);
  }

  Tensor compareDocuments() {
    const Tensor documents = translation.get(op.getDocuments());
    const Tensor ofKeys = toKeys(documents);
    Tensor ofQueries = documents;
    if (op.getStart()) {
      const Tensor positions = getPositions();
      SmallVector<Axis> axes = ofKeys.axes;
      axes.erase(axes.begin() + ofKeys.find(keys));
      ofQueries =
          translation.gather(ofKeys, positions, keys, Translation::join(axes, positions.axes));
    }
    return translation.map("Equal", {ofQueries, ofKeys},
                           Translation::join(ofQueries.axes, ofKeys.axes), ElementType::Bool);
  }

  /// `scores` where `isVisible`, else minus infinity.
  Tensor hide(const Tensor &scores, const Tensor &isVisible) {
    const Tensor hidden = translation.number(scores.type, -std::numeric_limits<double>::infinity());
    return translation.select(isVisible, scores, hidden, scores.axes);
  }

  ir::AttentionOp op;
  Translation &translation;
  Tensor query, key;
  StringAttr keys; ///< the axis of keys
};

struct AttentionModel : OnnxOpInterface::ExternalModel<AttentionModel, ir::AttentionOp> {
  LogicalResult translateToOnnx(Operation *op, Translation &translation) const {
    auto attention = cast<ir::AttentionOp>(op);
    if (attention.getRingStep())
      return op->emitError("a step of a ring has no translation to ONNX");
    AttentionGraph(attention, translation).build();
    return success();
  }
};

} // namespace

void onnx::attachAttentionModels(MLIRContext &context) {
  ir::AttentionOp::attachInterface<AttentionModel>(context);
}
