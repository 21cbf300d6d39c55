//===- PositionModels.cpp - Models of PositionalOpInterface ---------------===//

#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/ShardingRules/ShardingRules.h"
#include "dialects/titan/Support/TensorBuilder.h"

using namespace mlir;
using namespace titan::ir;

namespace {

struct IotaModel : PositionalOpInterface::ExternalModel<IotaModel, IotaOp> {
  Value startAt(Operation *op, OpBuilder &builder, Value start) const {
    return TensorBuilder(builder, op->getLoc()).add(op->getResult(0), start);
  }
};

struct RotaryModel : PositionalOpInterface::ExternalModel<RotaryModel, RotaryOp> {
  Value startAt(Operation *op, OpBuilder &builder, Value start) const {
    auto rotary = cast<RotaryOp>(op);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(op);
    if (Value before = rotary.getStart())
      start = TensorBuilder(builder, op->getLoc()).add(before, start);
    rotary.getStartMutable().assign(start);
    return rotary.getResult();
  }
};

} // namespace

void titan::ir::attachPositionModels(MLIRContext &context) {
  IotaOp::attachInterface<IotaModel>(context);
  RotaryOp::attachInterface<RotaryModel>(context);
}
