// Models of PositionalOpInterface and CausalOpInterface.

#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/ShardingRules/ShardingRules.h"
#include "dialects/titan/Support/TensorBuilder.h"

using namespace mlir;
using namespace titan::ir;

namespace {

struct IotaModel : PositionalOpInterface::ExternalModel<IotaModel, IotaOp> {
  Value startAt(Operation *op, OpBuilder &builder, Value start, DimAttr) const {
    return TensorBuilder(builder, op->getLoc()).addStart(op->getResult(0), start);
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

/// A chunk of a chunk starts at the sum of both starts, and is a chunk of the same whole dimension.
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

/// k, v and the document numbers of all positions: a chunk of queries reads its own numbers from
/// the numbers of the keys.
struct AttentionPositions : CausalOpInterface::ExternalModel<AttentionPositions, AttentionOp> {
  SmallVector<unsigned> getCausalOperands(Operation *op, StringAttr dim) const {
    auto attention = cast<AttentionOp>(op);
    if (!attention.getCausal() || attention.getRingStep() || attention.getAlongAttr() != dim)
      return {};
    SmallVector<unsigned> operands{attention.getKeyMutable().getOperandNumber(),
                                   attention.getValueMutable().getOperandNumber()};
    for (OpOperand &documents : attention.getDocumentsMutable())
      operands.push_back(documents.getOperandNumber());
    return operands;
  }
  void setStart(Operation *op, Value start) const {
    cast<AttentionOp>(op).getStartMutable().assign(start);
  }
};

} // namespace

void titan::ir::attachPositionModels(MLIRContext &context) {
  AttentionOp::attachInterface<AttentionPositions>(context);
  IotaOp::attachInterface<IotaModel>(context);
  RotaryOp::attachInterface<RotaryModel>(context);
  RandomOp::attachInterface<RandomPositions>(context);
}
