// Evaluates renaming, splitting and slicing.

#include "dialects/titan/Evaluation/Evaluation.h"
#include "dialects/titan/Evaluation/IndexSpace.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// Operations whose result has the same elements in the same order on each rank. The sharding rules
/// shard only the outermost of the dimensions of a split, so that the orders agree.
template <typename Op> struct CopyModel : EvaluableOpInterface::ExternalModel<CopyModel<Op>, Op> {
  LogicalResult evaluate(Operation *op, ArrayRef<const HostTensor *> operands,
                         MutableArrayRef<HostTensor> results, const RankShards &) const {
    if (operands[0]->data.size() != results[0].data.size())
      return op->emitOpError("holds ")
             << operands[0]->data.size() << " elements on this rank, and its result "
             << results[0].data.size();
    results[0].data = operands[0]->data;
    return success();
  }
};

/// A range of a dimension. Whole tensor and slice have the shape [outer, size, inner], where
/// `outer` and `inner` are the products of the dimensions before and after it.
struct Range {
  int64_t outer = 1, inner = 1, wholeSize, sliceSize, offset;
};

FailureOr<Range> getRange(Operation *op, Value whole, const HostTensor &wholeTensor, Value sliced,
                          const HostTensor &sliceTensor, StringAttr dim, int64_t offset) {
  auto wholeType = cast<NamedTensorType>(whole.getType());
  auto sliceType = cast<NamedTensorType>(sliced.getType());
  int64_t at = wholeType.findDimIndex(dim);
  bool flat =
      wholeType.getShardingOrReplicated().isFlat() || sliceType.getShardingOrReplicated().isFlat();
  if (flat || wholeTensor.shape[at] != wholeType.getDims()[at].getSize() ||
      sliceTensor.shape[at] != sliceType.getDims()[at].getSize())
    return op->emitOpError("needs dimension ") << dim << " whole on every rank";
  Range range{1, 1, wholeTensor.shape[at], sliceTensor.shape[at], offset};
  for (size_t i = 0; i < wholeTensor.shape.size(); ++i) {
    if (static_cast<int64_t>(i) == at)
      continue;
    if (wholeTensor.shape[i] != sliceTensor.shape[i])
      return op->emitOpError("has different shards of dimension ")
             << wholeType.getDims()[i].getName();
    (static_cast<int64_t>(i) < at ? range.outer : range.inner) *= wholeTensor.shape[i];
  }
  return range;
}

/// Calls copy(element offset in the whole tensor, element offset in the slice) for every element of
/// the slice.
template <typename Copy> void walkRange(const Range &range, Copy copy) {
  for (int64_t o = 0; o < range.outer; ++o)
    for (int64_t i = 0; i < range.sliceSize * range.inner; ++i)
      copy((o * range.wholeSize + range.offset) * range.inner + i,
           o * range.sliceSize * range.inner + i);
}

struct SliceModel : EvaluableOpInterface::ExternalModel<SliceModel, SliceOp> {
  LogicalResult evaluate(Operation *op, ArrayRef<const HostTensor *> operands,
                         MutableArrayRef<HostTensor> results, const RankShards &) const {
    auto slice = cast<SliceOp>(op);
    auto range = getRange(op, slice.getInput(), *operands[0], slice.getResult(), results[0],
                          slice.getDimAttr(), slice.getOffset());
    if (failed(range))
      return failure();
    walkRange(*range, [&](int64_t whole, int64_t sliced) {
      results[0].data[sliced] = operands[0]->data[whole];
    });
    return success();
  }
};

struct PadModel : EvaluableOpInterface::ExternalModel<PadModel, PadOp> {
  LogicalResult evaluate(Operation *op, ArrayRef<const HostTensor *> operands,
                         MutableArrayRef<HostTensor> results, const RankShards &) const {
    auto pad = cast<PadOp>(op);
    auto range = getRange(op, pad.getResult(), results[0], pad.getInput(), *operands[0],
                          pad.getDimAttr(), pad.getOffset());
    if (failed(range))
      return failure();
    std::fill(results[0].data.begin(), results[0].data.end(), 0.0);
    walkRange(*range, [&](int64_t whole, int64_t sliced) {
      results[0].data[whole] = operands[0]->data[sliced];
    });
    return success();
  }
};

struct InsertSliceModel : EvaluableOpInterface::ExternalModel<InsertSliceModel, InsertSliceOp> {
  LogicalResult evaluate(Operation *op, ArrayRef<const HostTensor *> operands,
                         MutableArrayRef<HostTensor> results, const RankShards &shards) const {
    auto insert = cast<InsertSliceOp>(op);
    NamedTensorType type = insert.getResult().getType();
    const int64_t at = type.findDimIndex(insert.getDimAttr());
    const HostTensor &slice = *operands[0], &whole = results[0];
    if (failed(checkWhole(op, insert.getInput(), slice, insert.getDimAttr())))
      return failure();
    for (auto [i, sizes] : llvm::enumerate(llvm::zip_equal(slice.shape, whole.shape)))
      if (auto [one, other] = sizes; static_cast<int64_t>(i) != at && one != other)
        return op->emitOpError("has different shards of dimension ") << type.getDims()[i].getName();
    for (const double start : operands[2]->data)
      if (start < 0 || start + slice.shape[at] > type.getDims()[at].getSize())
        return op->emitOpError("inserts ")
               << slice.shape[at] << " elements at " << static_cast<int64_t>(start)
               << ", beyond dimension " << insert.getDimAttr() << " of size "
               << type.getDims()[at].getSize();
    const ChunkStarts starts(insert.getStart(), operands[2], insert.getInput(), slice);
    const DimShard shard = getLocalDims(type, whole, shards)[at].shard;
    results[0].data = operands[1]->data;
    const int64_t inner = getStride(slice, at), run = slice.shape[at] * inner;
    for (int64_t from = 0, end = slice.data.size(); from < end; ++from) {
      const int64_t to = shard.toLocal(starts.at(from) + from / inner % slice.shape[at]);
      if (to >= 0)
        results[0].data[(from / run * whole.shape[at] + to) * inner + from % inner] =
            slice.data[from];
    }
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
  InsertSliceOp::attachInterface<InsertSliceModel>(context);
}
