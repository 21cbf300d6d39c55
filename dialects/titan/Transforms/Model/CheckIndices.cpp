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

namespace {
/// An input that contains all indices of an operation, and whether the program replaces negative
/// ones.
struct IndexInput {
  BlockArgument argument;
  bool mayBeNegative;
};
} // namespace

static std::optional<IndexInput> findInput(Value indices);

/// The input of `where(x < 0, constant, x)`.
static std::optional<IndexInput> findReplaced(SelectOp select) {
  auto isNegative = select.getCondition().getDefiningOp<CompareOp>();
  if (!isNegative || isNegative.getPredicate() != ComparePredicate::LT ||
      !select.getWhenTrue().getDefiningOp<ConstantOp>())
    return std::nullopt;
  auto zero = isNegative.getRhs().getDefiningOp<ConstantOp>();
  std::optional<IndexInput> input = findInput(select.getWhenFalse()),
                            compared = findInput(isNegative.getLhs());
  // The comparison is of integers if its left side is the input.
  if (!zero || !input || !compared || input->argument != compared->argument ||
      zero.getInteger() != 0)
    return std::nullopt;
  return IndexInput{input->argument, true};
}

/// None if the indices are computed from inputs, or lack elements of an input.
static std::optional<IndexInput> findInput(Value indices) {
  if (auto argument = dyn_cast<BlockArgument>(indices)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    if (function && function.getArgAttr(argument.getArgNumber(), attr::kInput))
      return IndexInput{argument, false};
    return std::nullopt;
  }
  Operation *op = indices.getDefiningOp();
  if (auto select = dyn_cast<SelectOp>(op))
    return findReplaced(select);
  if (op->hasTrait<View>() || isa<ExpandOp, CopyOp>(op))
    return findInput(op->getOperand(0));
  return std::nullopt;
}

/// Restricts the range of the input that contains the indices, so that the runtime can check it
/// before the first step.
static void restrictInput(Value indices, int64_t size) {
  std::optional<IndexInput> input = findInput(indices);
  if (!input)
    return;
  auto function = cast<func::FuncOp>(input->argument.getOwner()->getParentOp());
  const unsigned number = input->argument.getArgNumber();
  int64_t least = input->mayBeNegative ? INT64_MIN : 0, most = size - 1;
  if (auto range = function.getArgAttrOfType<DenseI64ArrayAttr>(number, attr::kIndexRange)) {
    least = std::max(least, range[0]);
    most = std::min(most, range[1]);
  }
  function.setArgAttr(number, attr::kIndexRange,
                      DenseI64ArrayAttr::get(function.getContext(), {least, most}));
}

/// Inserts a check of `indices`, an operand of `op`, unless all are known to be in [0, size).
static void check(Operation *op, OpOperand &indices, int64_t size, StringAttr along,
                  IndexRanges &ranges) {
  std::optional<Interval> range = ranges.get(indices.get());
  if (range && range->least >= 0 && range->most < size)
    return;
  restrictInput(indices.get(), size);
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
