//===- DimensionEvaluation.cpp - Renaming, splitting and cutting ----------===//

#include "dialects/titan/Evaluation/Evaluation.h"
#include "dialects/titan/Evaluation/IndexSpace.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// Operations that leave a rank's memory as it is. A split dimension stays with its outermost part
/// (the sharding rules see to that), so local parts agree in size and order.
template <typename Op> struct CopyModel : EvaluableOpInterface::ExternalModel<CopyModel<Op>, Op> {
  LogicalResult evaluate(Operation *op, ArrayRef<const HostTensor *> operands,
                         MutableArrayRef<HostTensor> results, const ShardOffsets &) const {
    if (operands[0]->data.size() != results[0].data.size())
      return op->emitOpError("holds ")
             << operands[0]->data.size() << " elements on this rank, and its result "
             << results[0].data.size();
    results[0].data = operands[0]->data;
    return success();
  }
};

/// A range of a dimension, seen as [outer, dim, inner] on both sides.
struct Range {
  int64_t outer = 1, inner = 1, wholeSize, partSize, offset;
};

FailureOr<Range> getRange(Operation *op, Value whole, const HostTensor &wholeTensor, Value part,
                          const HostTensor &partTensor, StringAttr dim, int64_t offset) {
  auto wholeType = cast<NamedTensorType>(whole.getType());
  auto partType = cast<NamedTensorType>(part.getType());
  int64_t at = wholeType.indexOf(dim);
  bool flat =
      wholeType.getShardingOrReplicated().isFlat() || partType.getShardingOrReplicated().isFlat();
  if (flat || wholeTensor.shape[at] != wholeType.getDims()[at].getSize() ||
      partTensor.shape[at] != partType.getDims()[at].getSize())
    return op->emitOpError("needs dimension ") << dim << " whole on every rank";
  Range range{1, 1, wholeTensor.shape[at], partTensor.shape[at], offset};
  for (size_t i = 0; i < wholeTensor.shape.size(); ++i) {
    if (static_cast<int64_t>(i) == at)
      continue;
    if (wholeTensor.shape[i] != partTensor.shape[i])
      return op->emitOpError("holds different parts of dimension ")
             << wholeType.getDims()[i].getName();
    (static_cast<int64_t>(i) < at ? range.outer : range.inner) *= wholeTensor.shape[i];
  }
  return range;
}

/// Calls copy(element of the whole, element of the part) for runs of `inner` elements.
template <typename Copy> void walkRange(const Range &range, Copy copy) {
  for (int64_t o = 0; o < range.outer; ++o)
    for (int64_t i = 0; i < range.partSize * range.inner; ++i)
      copy((o * range.wholeSize + range.offset) * range.inner + i,
           o * range.partSize * range.inner + i);
}

struct SliceModel : EvaluableOpInterface::ExternalModel<SliceModel, SliceOp> {
  LogicalResult evaluate(Operation *op, ArrayRef<const HostTensor *> operands,
                         MutableArrayRef<HostTensor> results, const ShardOffsets &) const {
    auto slice = cast<SliceOp>(op);
    auto range = getRange(op, slice.getInput(), *operands[0], slice.getResult(), results[0],
                          slice.getDimAttr(), slice.getOffset());
    if (failed(range))
      return failure();
    walkRange(*range, [&](int64_t whole, int64_t part) {
      results[0].data[part] = operands[0]->data[whole];
    });
    return success();
  }
};

struct PadModel : EvaluableOpInterface::ExternalModel<PadModel, PadOp> {
  LogicalResult evaluate(Operation *op, ArrayRef<const HostTensor *> operands,
                         MutableArrayRef<HostTensor> results, const ShardOffsets &) const {
    auto pad = cast<PadOp>(op);
    auto range = getRange(op, pad.getResult(), results[0], pad.getInput(), *operands[0],
                          pad.getDimAttr(), pad.getOffset());
    if (failed(range))
      return failure();
    std::fill(results[0].data.begin(), results[0].data.end(), 0.0);
    walkRange(*range, [&](int64_t whole, int64_t part) {
      results[0].data[whole] = operands[0]->data[part];
    });
    return success();
  }
};

} // namespace

void ir::attachDimensionEvaluation(MLIRContext &context) {
  ShardingConstraintOp::attachInterface<CopyModel<ShardingConstraintOp>>(context);
  StopGradientOp::attachInterface<CopyModel<StopGradientOp>>(context);
  RenameOp::attachInterface<CopyModel<RenameOp>>(context);
  SplitOp::attachInterface<CopyModel<SplitOp>>(context);
  MergeOp::attachInterface<CopyModel<MergeOp>>(context);
  SliceOp::attachInterface<SliceModel>(context);
  PadOp::attachInterface<PadModel>(context);
}
