// Evaluates grouped contractions.

#include "dialects/titan/Evaluation/Evaluation.h"
#include "dialects/titan/Evaluation/IndexSpace.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// The joint index space of all tensors without the indexed dimension of the table.
struct GroupedSpace {
  IndexSpace space;
  std::vector<std::vector<int64_t>> strides; ///< lhs, other rows, indices, table
  LocalDim along;
  int64_t alongStride;
};

/// `values` and `tensors`: lhs, other rows, indices and table. Emits an error if the table has
/// another dimension that the rows lack.
FailureOr<GroupedSpace> joinGrouped(GroupedContractOp op, ArrayRef<Value> values,
                                    ArrayRef<const HostTensor *> tensors,
                                    const RankShards &shards) {
  IndexSpace rows(op, shards);
  for (size_t t = 0; t < 3; ++t)
    if (failed(rows.join(values[t], *tensors[t])))
      return failure();
  IndexSpace all = rows;
  if (failed(all.join(values[3], *tensors[3])))
    return failure();
  int64_t rank = rows.getRank();
  if (all.getRank() != rank + 1 || all.getDim(rank).name != op.getAlong())
    return op.emitOpError("on this rank the table has a dimension that no other tensor has");
  GroupedSpace grouped{rows, {}, all.getDim(rank), 0};
  for (size_t t = 0; t < 4; ++t)
    grouped.strides.push_back(all.getStrides(values[t], *tensors[t]));
  grouped.alongStride = grouped.strides[3].back();
  for (std::vector<int64_t> &strides : grouped.strides)
    strides.pop_back();
  return grouped;
}

struct GroupedContractModel
    : EvaluableOpInterface::ExternalModel<GroupedContractModel, GroupedContractOp> {
  LogicalResult evaluate(Operation *op, ArrayRef<const HostTensor *> operands,
                         MutableArrayRef<HostTensor> results, const RankShards &shards) const {
    auto grouped = cast<GroupedContractOp>(op);
    bool readsTable = grouped.getTable() == grouped.getRhs();
    const HostTensor *result = &results[0];
    const HostTensor *other = readsTable ? result : operands[1],
                     *table = readsTable ? operands[1] : result;
    auto joined = joinGrouped(
        grouped,
        {grouped.getLhs(), grouped.getOtherRows(), grouped.getIndices(), grouped.getTable()},
        {operands[0], other, operands[2], table}, shards);
    if (failed(joined))
      return failure();
    std::vector<double> &sums = results[0].data;
    if (grouped.getInto())
      sums = operands[3]->data;
    else
      std::fill(sums.begin(), sums.end(), 0.0);
    joined->space.walk(joined->strides, [&](const std::vector<int64_t> &at) {
      int64_t element = joined->along.shard.toLocal(static_cast<int64_t>(operands[2]->data[at[2]]));
      if (element < 0)
        return;
      int64_t inTable = at[3] + element * joined->alongStride;
      double right = operands[1]->data[readsTable ? inTable : at[1]];
      sums[readsTable ? at[1] : inTable] += operands[0]->data[at[0]] * right;
    });
    return success();
  }
};

} // namespace

void ir::attachGroupedEvaluation(MLIRContext &context) {
  GroupedContractOp::attachInterface<GroupedContractModel>(context);
}
