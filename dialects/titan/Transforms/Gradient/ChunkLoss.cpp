// The pass --titan-chunk-loss: computes the head, the loss and their gradients in chunks.

#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Support/TensorBuilder.h"
#include "dialects/titan/Transforms/Gradient/ChunkPlan.h"
#include "dialects/titan/Transforms/Gradient/CleanUp.h"
#include "dialects/titan/Transforms/Gradient/Passes.h"
#include "mlir/IR/IRMapping.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANCHUNKLOSS
#include "dialects/titan/Transforms/Gradient/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// Replaces the operations of a group by a repeat over chunks.
class ChunkLoopBuilder {
public:
  ChunkLoopBuilder(Block &block, const ChunkPlan &plan)
      : block(block), group(plan.group), dim(plan.dim), chunks(plan.chunks),
        builder(group.getOps().back()), math(builder, group.getOps().back()->getLoc()) {
    chunkDim = DimAttr::get(builder.getContext(),
                            builder.getStringAttr(dim.getName().getValue() + ".chunks"), chunks);
  }

  void run();

private:
  StringAttr getName(Value value);
  NamedTensorType chunkType(Value value);
  NamedTensorType splitType(Value value);
  Value toScannedInput(Value value);
  Value fromStackedOutput(Value value, Value stack);
  RepeatOp createLoop();
  void fillLoop(RepeatOp loop);
  void replace(Value value, Value by);

  Block &block;
  const ChunkGroup &group;
  DimAttr dim;
  int64_t chunks;
  OpBuilder builder;
  TensorBuilder math;
  DimAttr chunkDim;
};

} // namespace

/// The name of the sliced dimension in `value`.
StringAttr ChunkLoopBuilder::getName(Value value) {
  return cast<NamedTensorType>(value.getType()).getDims()[group.getDependence(value).dim].getName();
}

/// The type of one chunk of `value`.
NamedTensorType ChunkLoopBuilder::chunkType(Value value) {
  return getChunkType(cast<NamedTensorType>(value.getType()), group.getDependence(value).dim,
                      chunks);
}

/// The type with the sliced dimension split in two: `[..., chunks, dim / chunks, ...]`.
NamedTensorType ChunkLoopBuilder::splitType(Value value) {
  SmallVector<DimAttr> dims(chunkType(value).getDims());
  dims.insert(dims.begin() + group.getDependence(value).dim, chunkDim);
  return NamedTensorType::get(chunkType(value).getElementType(), dims);
}

/// The chunks of `value` as a scanned input of the loop.
Value ChunkLoopBuilder::toScannedInput(Value value) {
  math.setLoc(value.getLoc());
  Value split = math.create<SplitOp>(splitType(value), value, getName(value));
  return math.fitTo(split, RepeatOp::getStackedType(chunkDim, chunkType(value)));
}

/// The whole `value` from the stacked output with its chunks.
Value ChunkLoopBuilder::fromStackedOutput(Value value, Value stack) {
  math.setLoc(value.getLoc());
  Value split = math.fitTo(stack, splitType(value));
  return math.create<MergeOp>(value.getType(), split, getName(value));
}

RepeatOp ChunkLoopBuilder::createLoop() {
  SmallVector<Value> zeros, slices;
  SmallVector<Type> stacks;
  for (Value sum : group.getSums()) {
    math.setLoc(sum.getLoc());
    zeros.push_back(math.zeros(cast<NamedTensorType>(sum.getType())));
  }
  for (Value value : group.getSliced())
    slices.push_back(toScannedInput(value));
  for (Value value : group.getStacked())
    stacks.push_back(RepeatOp::getStackedType(chunkDim, chunkType(value)));
  return builder.create<RepeatOp>(group.getOps().front()->getLoc(), chunkDim, /*reverse=*/false,
                                  zeros, slices, stacks);
}

void ChunkLoopBuilder::fillLoop(RepeatOp loop) {
  RepeatVariant iteration = loop.getVariant(0);
  OpBuilder inside = OpBuilder::atBlockEnd(&iteration.getBlock());
  IRMapping mapping;
  for (auto [value, slice] : llvm::zip_equal(group.getSliced(), iteration.getScannedArgs()))
    mapping.map(value, slice);
  auto dependences = [&](Value value) { return group.getDependence(value); };
  ChunkBody chunk(dependences, chunks);
  for (Operation *op : group.getOps())
    chunk.setChunkTypes(op, inside.clone(*op, mapping));
  TensorBuilder bodyMath(inside, loop.getLoc());
  SmallVector<Value> yielded;
  for (auto [sum, iterArg] : llvm::zip_equal(group.getSums(), iteration.getIterArgs())) {
    bodyMath.setLoc(sum.getLoc());
    yielded.push_back(bodyMath.add(iterArg, mapping.lookup(sum)));
  }
  for (Value value : group.getStacked())
    yielded.push_back(mapping.lookup(value));
  inside.create<YieldOp>(loop.getLoc(), yielded);
  chunk.startAt(iteration.getIndex());
}

/// Replaces the uses of `value` outside the group.
void ChunkLoopBuilder::replace(Value value, Value by) {
  value.replaceUsesWithIf(by, [&](OpOperand &use) {
    return !group.contains(block.findAncestorOpInBlock(*use.getOwner()));
  });
}

/// Builds the loop at the end of the group, and moves operations after it that depend on the group
/// and are between its operations.
void ChunkLoopBuilder::run() {
  Operation *last = group.getOps().back();
  SmallVector<Operation *> later;
  for (Operation *op = group.getOps().front(); op != last; op = op->getNextNode())
    if (group.dependsOnGroup(op) && !group.contains(op))
      later.push_back(op);
  RepeatOp loop = createLoop();
  fillLoop(loop);
  builder.setInsertionPointAfter(loop);
  for (auto [sum, total] : llvm::zip_equal(group.getSums(), loop.getIterResults()))
    replace(sum, total);
  for (auto [value, stack] : llvm::zip_equal(group.getStacked(), loop.getStackedOutputs()))
    replace(value, fromStackedOutput(value, stack));
  for (Operation *op : later)
    op->moveBefore(&block, builder.getInsertionPoint());
  for (Operation *op : llvm::reverse(group.getOps()))
    if (op->use_empty())
      op->erase();
}

/// Reports that no dimension allows this number of chunks, and why.
static InFlightDiagnostic reportNoPlan(func::FuncOp function, int64_t chunks,
                                       const ChunkPlanner &planner) {
  InFlightDiagnostic error = function.emitError("cannot compute the loss in ")
                             << chunks << " chunks; `loss_chunks = 0` lets the compiler choose";
  if (Operation *op = planner.getObstacle().op) {
    error.attachNote(op->getLoc()) << planner.getObstacle().why;
    return error;
  }
  std::string sizes;
  for (DimAttr dim : planner.getCandidates())
    sizes +=
        (sizes.empty() ? "" : ", ") + dim.getName().str() + " = " + std::to_string(dim.getSize());
  error.attachNote() << (sizes.empty() ? "no dimension of the largest value allows chunks"
                                       : "the number does not divide the dimensions of the largest "
                                         "value that allow chunks: " +
                                             sizes)
                     << " (an axis must not split the dimension, nor a parameter have it)";
  return error;
}

/// Those that the run asks for. --titan-accumulate reports a malformed attribute.
static Microbatches getMicrobatches(func::FuncOp function) {
  auto accumulate = function->getAttrOfType<DictionaryAttr>(attr::kAccumulate);
  if (!accumulate)
    return {};
  auto count = accumulate.getAs<IntegerAttr>("microbatches");
  return {accumulate.getAs<StringAttr>("dim"), count ? std::max<int64_t>(1, count.getInt()) : 1};
}

static LogicalResult chunkLoss(func::FuncOp function, int64_t minChunkBytes) {
  auto wanted = dyn_cast_or_null<IntegerAttr>(function->removeAttr(attr::kLossChunks));
  int64_t chunks = wanted ? wanted.getInt() : 0;
  ChunkPlanner planner(function, getMicrobatches(function));
  std::optional<ChunkPlan> plan =
      chunks == 0 ? planner.choose(minChunkBytes) : planner.find(chunks);
  if (plan && plan->chunks > 1) {
    ChunkLoopBuilder(function.getBody().front(), *plan).run();
    cleanUp(function);
  }
  if (!plan && chunks > 1)
    return reportNoPlan(function, chunks, planner);
  return success();
}

namespace {
struct ChunkLoss : titan::ir::impl::TitanChunkLossBase<ChunkLoss> {
  using TitanChunkLossBase::TitanChunkLossBase;

  void runOnOperation() override {
    if (isTrainProgram(getOperation()) && failed(chunkLoss(getOperation(), minChunkBytes)))
      signalPassFailure();
  }
};
} // namespace
