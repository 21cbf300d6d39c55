//===- ScratchModels.cpp - Models of ScratchOpInterface -------------------===//

#include "base/kernels/AttentionScratch.h"
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
      return dist::getLocalShape(type, degrees)[type.indexOf(name)];
    };
    int64_t group = 1;
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
    for (auto [dim, split] : llvm::zip_equal(type.getDims(), sharding.getDimAxes()))
      if (isSelected(dim)) {
        dims.push_back(dim);
        axes.push_back(split);
      }
    return NamedTensorType::get(IntegerType::get(type.getContext(), 64), dims,
                                sharding.withoutPartial().withoutFlat().withDims(axes, 0));
  }
};

} // namespace

void ir::registerScratchModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TitanDialect *) {
    AttentionOp::attachInterface<AttentionScratch<AttentionOp>>(*context);
    AttentionGradOp::attachInterface<AttentionScratch<AttentionGradOp>>(*context);
    ScatterOp::attachInterface<ScatterScratch>(*context);
  });
}
