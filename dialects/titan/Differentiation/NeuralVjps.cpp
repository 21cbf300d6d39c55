// VJP rules of composite operations.

#include "dialects/titan/Differentiation/Differentiation.h"
#include "dialects/titan/Differentiation/VjpModel.h"

using namespace mlir;

namespace titan::ir {

/// The transpose of a rotation is the inverse rotation.
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

/// The result and its log-sum-exp may have cotangents, at least one of them does.
static LogicalResult flow(AttentionOp op, Vjp &v) {
  if (op.getStart())
    return op.emitError("a chunk of queries has no gradient");
  v.setLoc(getGradientLoc(op.getLoc(), op.getResult()));
  Value cotangent = v.cotangent(0) ? v.cotangent(0) : v.zeros(op.getResult().getType());
  auto grad = v.create<AttentionGradOp>(
      TypeRange{op.getQuery().getType(), op.getKey().getType(), op.getValue().getType()}, cotangent,
      op.getQuery(), op.getKey(), op.getValue(), op.getResult(), op.getLse(), v.cotangent(1),
      op.getDocuments(), /*ringStep=*/Value(), op.getAlongAttr(), op.getHeadAttr(),
      op.getScaleAttr(), op.getCausalAttr(), op.getWindowAttr(), op.getSoftCapAttr(),
      /*ringAxes=*/ArrayAttr());
  for (unsigned i = 0; i < 3; ++i)
    v.flowTo(i, [&] { return grad->getResult(i); });
  return success();
}

void attachNeuralVjps(MLIRContext *context) {
  attachVjps<RotaryOp, AttentionOp>(context);
}

} // namespace titan::ir
