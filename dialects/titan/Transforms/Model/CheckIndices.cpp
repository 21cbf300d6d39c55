// The pass --titan-check-indices: inserts bounds checks of computed indices.

#include "dialects/titan/IR/TensorAttributes.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Support/TensorBuilder.h"
#include "dialects/titan/Transforms/Model/IndexRange.h"
#include "dialects/titan/Transforms/Model/Passes.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANCHECKINDICES
#include "dialects/titan/Transforms/Model/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan::ir;

/// `index`, or a copy of it if it is the index of an iteration, which has no memory that a check
/// could read.
static Value copyIfIterationIndex(TensorBuilder &builder, Value index) {
  return isa<BlockArgument>(index) && findVariant(index.getParentBlock()) &&
                 findVariant(index.getParentBlock())->getIndex() == index
             ? builder.create<CopyOp>(index)
             : index;
}

/// Inserts a check of `indices`, an operand of `op`, unless all are known to be in [0, size).
static void check(Operation *op, OpOperand &indices, int64_t size, StringAttr along,
                  IndexRanges &ranges) {
  std::optional<Interval> range = ranges.get(indices.get());
  if (range && range->least >= 0 && range->most < size)
    return;
  OpBuilder opBuilder(op);
  TensorBuilder builder(opBuilder, op->getLoc());
  Value index = copyIfIterationIndex(builder, indices.get());
  auto checked = builder.create<CheckIndexOp>(index, along, opBuilder.getI64IntegerAttr(size));
  if (Attribute blocks = op->getAttr(attr::kBlocks))
    checked->setAttr(attr::kBlocks, blocks);
  indices.set(checked);
}

static int64_t getSize(NamedTensorType table, StringAttr along) {
  return table.getDims()[table.findDimIndex(along)].getSize();
}

namespace {
struct CheckIndices : titan::ir::impl::TitanCheckIndicesBase<CheckIndices> {
  void runOnOperation() override {
    IndexRanges ranges(getVocabulary(getOperation()->getParentOfType<ModuleOp>()));
    getOperation().walk([&](Operation *op) {
      if (auto gather = dyn_cast<GatherOp>(op))
        check(op, gather.getIndicesMutable(),
              getSize(gather.getInput().getType(), gather.getAlongAttr()), gather.getAlongAttr(),
              ranges);
      else if (auto scatter = dyn_cast<ScatterOp>(op))
        check(op, scatter.getIndicesMutable(),
              getSize(scatter.getResult().getType(), scatter.getAlongAttr()),
              scatter.getAlongAttr(), ranges);
      else if (auto counts = dyn_cast<CumulativeCountOp>(op))
        check(op, counts.getInputMutable(), static_cast<int64_t>(counts.getSize()),
              counts.getAlongAttr(), ranges);
    });
  }
};
} // namespace
