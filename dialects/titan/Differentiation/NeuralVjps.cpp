//===- NeuralVjps.cpp - Gradients of composites ---------------------------===//

#include "dialects/titan/Differentiation/Differentiation.h"
#include "dialects/titan/Differentiation/VjpModel.h"

using namespace mlir;

namespace titan::ir {

/// A rotation's transpose is the rotation back.
static LogicalResult flow(RotaryOp op, Vjp &v) {
  v.flowTo(0, [&] {
    auto turned =
        v.create<RotaryOp>(op.getInput().getType(), v.cotangent(), op.getStart(), op.getAlongAttr(),
                           op.getDimAttr(), op.getThetaAttr(), op.getFrequenciesAttr(),
                           op.getInterleavedAttr(), /*inverse=*/UnitAttr());
    turned.setInverse(!op.getInverse());
    return turned;
  });
  return success();
}

/// Through the result and through its log-sum-exp, of which one may have no cotangent.
static LogicalResult flow(AttentionOp op, Vjp &v) {
  v.setLoc(getGradientLoc(op.getLoc(), op.getResult()));
  Value cotangent = v.cotangent(0) ? v.cotangent(0) : v.zeros(op.getResult().getType());
  auto grad = v.create<AttentionGradOp>(
      TypeRange{op.getQuery().getType(), op.getKey().getType(), op.getValue().getType()}, cotangent,
      op.getQuery(), op.getKey(), op.getValue(), op.getResult(), op.getLse(), v.cotangent(1),
      op.getDocuments(), op.getAlongAttr(), op.getHeadAttr(), op.getScaleAttr(), op.getCausalAttr(),
      op.getWindowAttr(), op.getSoftCapAttr());
  for (unsigned i = 0; i < 3; ++i)
    v.flowTo(i, [&] { return grad->getResult(i); });
  return success();
}

void attachNeuralVjps(MLIRContext *context) {
  attachVjps<RotaryOp, AttentionOp>(context);
}

} // namespace titan::ir
