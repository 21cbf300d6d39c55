//===- PositionModels.cpp - Models of PositionalOpInterface ---------------===//

#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/ShardingRules/ShardingRules.h"
#include "dialects/titan/Support/TensorBuilder.h"

using namespace mlir;
using namespace titan::ir;

namespace {

struct IotaModel : PositionalOpInterface::ExternalModel<IotaModel, IotaOp> {
  Value startAt(Operation *op, OpBuilder &builder, Value start, DimAttr) const {
    return TensorBuilder(builder, op->getLoc()).add(op->getResult(0), start);
  }
};

struct RotaryModel : PositionalOpInterface::ExternalModel<RotaryModel, RotaryOp> {
  Value startAt(Operation *op, OpBuilder &builder, Value start, DimAttr) const {
    auto rotary = cast<RotaryOp>(op);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(op);
    if (Value before = rotary.getStart())
      start = TensorBuilder(builder, op->getLoc()).add(before, start);
    rotary.getStartMutable().assign(start);
    return rotary.getResult();
  }
};

/// A chunk of a chunk starts at the sum of both starts, and is one of the same whole.
struct RandomPositions : PositionalOpInterface::ExternalModel<RandomPositions, RandomOp> {
  Value startAt(Operation *op, OpBuilder &builder, Value start, DimAttr whole) const {
    auto random = cast<RandomOp>(op);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(op);
    for (auto [i, dim] : llvm::enumerate(random.getWhole().getAsRange<DimAttr>()))
      if (dim.getName() == whole.getName()) {
        Value sum = TensorBuilder(builder, op->getLoc()).add(random.getStarts()[i], start);
        random.getStartsMutable()[i].assign(sum);
        return random.getResult();
      }
    SmallVector<Attribute> dims(random.getWhole().getValue());
    dims.push_back(whole);
    random.getStartsMutable().append(start);
    random.setWholeAttr(builder.getArrayAttr(dims));
    return random.getResult();
  }
};

} // namespace

void titan::ir::attachPositionModels(MLIRContext &context) {
  IotaOp::attachInterface<IotaModel>(context);
  RotaryOp::attachInterface<RotaryModel>(context);
  RandomOp::attachInterface<RandomPositions>(context);
}
