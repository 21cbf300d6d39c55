// Evaluates gather and scatter.

#include "dialects/titan/Evaluation/Evaluation.h"
#include "dialects/titan/Evaluation/IndexSpace.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// The joint index space of table, indices and rows without the indexed dimension, and the table's
/// stride along that dimension.
struct Lookup {
  IndexSpace space;
  std::vector<std::vector<int64_t>> strides; ///< table, indices, rows
  LocalDim along;
  int64_t alongStride = 1;

  /// The row of the rank's table that an index selects; -1 if another rank has it.
  int64_t findRow(double index) const { return along.shard.toLocal(static_cast<int64_t>(index)); }
};

/// The lookup of an operation that reads or writes elements of `table` along the dimension `along`.
FailureOr<Lookup> joinLookup(Operation *op, StringRef along, Value table,
                             const HostTensor &tableTensor, Value indices,
                             const HostTensor &indexTensor, Value rows, const HostTensor &rowTensor,
                             const RankShards &shards) {
  Lookup lookup{IndexSpace(op, shards), {}, {}, 1};
  if (failed(lookup.space.join(rows, rowTensor)) || failed(lookup.space.join(indices, indexTensor)))
    return failure();
  int64_t joined = lookup.space.getRank();
  if (failed(lookup.space.join(table, tableTensor)))
    return failure();
  if (lookup.space.getRank() != joined + 1 || lookup.space.getDim(joined).name != along)
    return op->emitOpError("on this rank the table has a dimension that nothing indexes");
  std::vector<int64_t> tableStrides = lookup.space.getStrides(table, tableTensor);
  lookup.along = lookup.space.getDim(joined);
  lookup.alongStride = tableStrides[joined];
  // The iteration must not visit the rows of the table: `along` is not in the space.
  lookup.space = IndexSpace(op, shards);
  (void)lookup.space.join(rows, rowTensor);
  (void)lookup.space.join(indices, indexTensor);
  tableStrides.resize(joined);
  lookup.strides = {tableStrides, lookup.space.getStrides(indices, indexTensor),
                    lookup.space.getStrides(rows, rowTensor)};
  return lookup;
}

struct GatherModel : EvaluableOpInterface::ExternalModel<GatherModel, GatherOp> {
  LogicalResult evaluate(Operation *op, ArrayRef<const HostTensor *> operands,
                         MutableArrayRef<HostTensor> results, const RankShards &shards) const {
    auto gather = cast<GatherOp>(op);
    auto lookup =
        joinLookup(op, gather.getAlong(), gather.getInput(), *operands[0], gather.getIndices(),
                   *operands[1], gather.getResult(), results[0], shards);
    if (failed(lookup))
      return failure();
    lookup->space.walk(lookup->strides, [&](const std::vector<int64_t> &at) {
      int64_t row = lookup->findRow(operands[1]->data[at[1]]);
      results[0].data[at[2]] =
          row >= 0 ? operands[0]->data[at[0] + row * lookup->alongStride] : 0.0;
    });
    return success();
  }
};

struct CheckIndexModel : EvaluableOpInterface::ExternalModel<CheckIndexModel, CheckIndexOp> {
  LogicalResult evaluate(Operation *op, ArrayRef<const HostTensor *> operands,
                         MutableArrayRef<HostTensor> results, const RankShards &) const {
    auto check = cast<CheckIndexOp>(op);
    for (double index : operands[0]->data)
      if (index < 0 || index >= static_cast<double>(check.getSize()))
        return op->emitError("index ")
               << static_cast<int64_t>(index) << " is outside of `" << check.getAlong()
               << "`, which has " << check.getSize() << " elements";
    results[0].data = operands[0]->data;
    return success();
  }
};

struct ScatterModel : EvaluableOpInterface::ExternalModel<ScatterModel, ScatterOp> {
  LogicalResult evaluate(Operation *op, ArrayRef<const HostTensor *> operands,
                         MutableArrayRef<HostTensor> results, const RankShards &shards) const {
    auto scatter = cast<ScatterOp>(op);
    auto lookup =
        joinLookup(op, scatter.getAlong(), scatter.getResult(), results[0], scatter.getIndices(),
                   *operands[1], scatter.getUpdates(), *operands[0], shards);
    if (failed(lookup))
      return failure();
    if (scatter.getInto())
      results[0].data = operands[2]->data;
    else
      std::fill(results[0].data.begin(), results[0].data.end(), 0.0);
    lookup->space.walk(lookup->strides, [&](const std::vector<int64_t> &at) {
      int64_t row = lookup->findRow(operands[1]->data[at[1]]);
      if (row >= 0)
        results[0].data[at[0] + row * lookup->alongStride] += operands[0]->data[at[2]];
    });
    return success();
  }
};

} // namespace

void ir::attachIndexingEvaluation(MLIRContext &context) {
  CheckIndexOp::attachInterface<CheckIndexModel>(context);
  GatherOp::attachInterface<GatherModel>(context);
  ScatterOp::attachInterface<ScatterModel>(context);
}
