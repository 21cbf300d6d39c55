//===- NeuralVjps.cpp - Gradients of composites ---------------------------===//

#include "dialects/titan/Differentiation/Differentiation.h"
#include "dialects/titan/Differentiation/VjpModel.h"

using namespace mlir;

namespace titan::ir {

/// A rotation's transpose is the rotation back.
static LogicalResult flow(RotaryOp op, Vjp &v) {
  v.flowTo(0, [&] {
    auto turned = v.create<RotaryOp>(op.getInput().getType(), v.cotangent(), op.getAlongAttr(),
                                     op.getDimAttr(), op.getThetaAttr(), op.getFrequenciesAttr(),
                                     op.getInterleavedAttr(), /*inverse=*/UnitAttr());
    turned.setInverse(!op.getInverse());
    return turned;
  });
  return success();
}

static LogicalResult flow(AttentionOp op, Vjp &v) {
  if (v.cotangent(1)) {
    InFlightDiagnostic error = op.emitOpError("has no gradient through its log-sum-exp");
    error.attachNote((*op.getLse().user_begin())->getLoc()) << "used here";
    return error;
  }
  v.setLoc(getGradientLoc(op.getLoc(), op.getResult()));
  auto grad = v.create<AttentionGradOp>(
      TypeRange{op.getQuery().getType(), op.getKey().getType(), op.getValue().getType()},
      v.cotangent(), op.getQuery(), op.getKey(), op.getValue(), op.getResult(), op.getLse(),
      op.getAlongAttr(), op.getHeadAttr(), op.getScaleAttr(), op.getCausalAttr());
  for (unsigned i = 0; i < 3; ++i)
    v.flowTo(i, [&] { return grad->getResult(i); });
  return success();
}

void attachNeuralVjps(MLIRContext *context) {
  attachVjps<RotaryOp, AttentionOp>(context);
}

} // namespace titan::ir
