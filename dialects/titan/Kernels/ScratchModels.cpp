// Models of ScratchOpInterface.

#include "base/kernels/AttentionScratch.h"
#include "base/kernels/GroupedRows.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/Kernels/Kernels.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

template <typename Op>
struct AttentionScratch : ScratchOpInterface::ExternalModel<AttentionScratch<Op>, Op> {
  int64_t getScratchBytes(Operation *op, const dist::Degrees &degrees) const {
    auto attention = cast<Op>(op);
    NamedTensorType q = attention.getQuery().getType(), k = attention.getKey().getType();
    auto sizeIn = [&](NamedTensorType type, StringAttr name) {
      return dist::getLocalShape(type, degrees)[type.findDimIndex(name)];
    };
    int64_t group = 1; // queries that read the same keys at a position (grouped queries)
    for (auto [dim, size] : llvm::zip_equal(q.getDims(), dist::getLocalShape(q, degrees)))
      group *= k.hasDim(dim.getName()) ? 1 : size;
    attention_scratch::Sizes sizes{sizeIn(q, attention.getAlongAttr()),
                                   sizeIn(k, attention.getAlongAttr()),
                                   group,
                                   sizeIn(q, attention.getHeadAttr()),
                                   attention.getValueHead().getSize(),
                                   q.getElementType().isF64() ? 8 : 4};
    return isa<AttentionOp>(op) ? attention_scratch::forwardBytes(sizes)
                                : attention_scratch::backwardBytes(sizes);
  }
};

/// Scratch that groups the updates of a table by row: the index of each update, and the end of each
/// row's updates.
struct ScatterScratch : ScratchOpInterface::ExternalModel<ScatterScratch, ScatterOp> {
  llvm::SmallVector<NamedTensorType> getScratchTensors(Operation *op) const {
    auto scatter = cast<ScatterOp>(op);
    if (scatter.isOneHot() || scatter.hasFewTerms())
      return {};
    NamedTensorType indices = scatter.getIndices().getType();
    auto isOfRow = [&](DimAttr dim) {
      return dim.getName() == scatter.getAlongAttr() || indices.hasDim(dim.getName());
    };
    return {selectDims(indices, [](DimAttr) { return true; }),
            selectDims(scatter.getResult().getType(), isOfRow)};
  }

private:
  /// An i64 tensor of some dimensions of `type`, with the same sharding.
  static NamedTensorType selectDims(NamedTensorType type,
                                    llvm::function_ref<bool(DimAttr)> isSelected) {
    SmallVector<DimAttr> dims;
    SmallVector<ArrayAttr> axes;
    dist::ShardingAttr sharding = type.getShardingOrReplicated();
    for (auto [dim, dimAxes] : llvm::zip_equal(type.getDims(), sharding.getDimAxes()))
      if (isSelected(dim)) {
        dims.push_back(dim);
        axes.push_back(dimAxes);
      }
    return NamedTensorType::get(IntegerType::get(type.getContext(), 64), dims,
                                sharding.withoutPartial().withoutFlat().withDims(axes, 0));
  }
};

/// The order of the rows by element of the table, the end of each element's rows, and a block of
/// each of the two tensors of rows.
struct GroupedContractScratch
    : ScratchOpInterface::ExternalModel<GroupedContractScratch, GroupedContractOp> {
  llvm::SmallVector<NamedTensorType> getScratchTensors(Operation *op) const {
    auto grouped = cast<GroupedContractOp>(op);
    NamedTensorType lhs = grouped.getLhs().getType(), indices = grouped.getIndices().getType(),
                    other = getTensorType(grouped.getOtherRows()),
                    table = getTensorType(grouped.getTable());
    SmallVector<DimAttr> rows = grouped.getRowDims(), elements;
    for (DimAttr dim : table.getDims())
      if (dim.getName() == grouped.getAlongAttr() || indices.hasDim(dim.getName()))
        elements.push_back(dim);
    Type integer = IntegerType::get(op->getContext(), 64);
    return {selectShards(integer, rows, {other, indices, lhs}),
            selectShards(integer, elements, {table}),
            getBlock(rows, grouped.getTableDims(lhs), lhs),
            getBlock(rows, grouped.getTableDims(other), other)};
  }

private:
  /// A tensor of `dims`, each with its sharding in the first of `types` that has it.
  static NamedTensorType selectShards(Type element, ArrayRef<DimAttr> dims,
                                      ArrayRef<NamedTensorType> types) {
    SmallVector<ArrayAttr> axes;
    for (DimAttr dim : dims)
      for (NamedTensorType type : types)
        if (int64_t at = type.findDimIndex(dim.getName()); at >= 0) {
          axes.push_back(type.getShardingOrReplicated().getDimAxes()[at]);
          break;
        }
    dist::ShardingAttr sharding = types[0].getShardingOrReplicated();
    return NamedTensorType::get(element, dims,
                                sharding.withoutPartial().withoutFlat().withDims(axes, 0));
  }

  /// A block of at most kGroupedRows rows, each with the dimensions `dims` and their sharding in
  /// `type`. `rows`: the dimensions of all rows.
  static NamedTensorType getBlock(ArrayRef<DimAttr> rows, ArrayRef<DimAttr> dims,
                                  NamedTensorType type) {
    MLIRContext *context = type.getContext();
    int64_t count = 1;
    for (DimAttr dim : rows)
      count = std::min(count * dim.getSize(), kGroupedRows);
    auto block = DimAttr::get(context, StringAttr::get(context, "rows of a block"), count);
    NamedTensorType row = selectShards(type.getElementType(), dims, {type});
    SmallVector<DimAttr> all{block};
    llvm::append_range(all, dims);
    SmallVector<ArrayAttr> axes{ArrayAttr::get(context, {})};
    llvm::append_range(axes, row.getSharding().getDimAxes());
    return NamedTensorType::get(row.getElementType(), all, row.getSharding().withDims(axes, 0));
  }
};

} // namespace

void ir::registerScratchModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TitanDialect *) {
    AttentionOp::attachInterface<AttentionScratch<AttentionOp>>(*context);
    AttentionGradOp::attachInterface<AttentionScratch<AttentionGradOp>>(*context);
    ScatterOp::attachInterface<ScatterScratch>(*context);
    GroupedContractOp::attachInterface<GroupedContractScratch>(*context);
  });
}
