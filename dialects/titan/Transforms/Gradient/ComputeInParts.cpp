//===- ComputeInParts.cpp - The pass --titan-compute-in-parts -------------===//

#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Support/TensorBuilder.h"
#include "dialects/titan/Transforms/Gradient/CleanUp.h"
#include "dialects/titan/Transforms/Gradient/PartPlan.h"
#include "dialects/titan/Transforms/Gradient/Passes.h"
#include "mlir/IR/IRMapping.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANCOMPUTEINPARTS
#include "dialects/titan/Transforms/Gradient/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// Values of so many bytes are not worth a loop.
constexpr int64_t kKeptWhole = int64_t{32} << 20;

/// Replaces the operations of a group by a repeat over parts of a dimension.
class PartsBuilder {
public:
  PartsBuilder(Block &block, const PartPlan &plan)
      : block(block), group(plan.group), dim(plan.dim), parts(plan.parts),
        builder(group.getOps().back()), math(builder, group.getOps().back()->getLoc()) {
    partsDim = DimAttr::get(builder.getContext(),
                            builder.getStringAttr(dim.getName().getValue() + ".parts"), parts);
  }

  void run();

private:
  StringAttr getName(Value value);
  NamedTensorType cut(Value value);
  NamedTensorType split(Value value);
  Value toSlices(Value value);
  Value fromStack(Value value, Value stack);
  RepeatOp createLoop();
  void fillLoop(RepeatOp loop);
  void replace(Value value, Value by);

  Block &block;
  const PartGroup &group;
  DimAttr dim;
  int64_t parts;
  OpBuilder builder;
  TensorBuilder math;
  DimAttr partsDim;
};

} // namespace

/// What the dimension is called in `value`.
StringAttr PartsBuilder::getName(Value value) {
  return cast<NamedTensorType>(value.getType()).getDims()[group.get(value).dim].getName();
}

/// The type of one part.
NamedTensorType PartsBuilder::cut(Value value) {
  return cutType(cast<NamedTensorType>(value.getType()), group.get(value).dim, parts);
}

/// The value's type with the dimension as two, `[..., parts, dim / parts, ...]`.
NamedTensorType PartsBuilder::split(Value value) {
  SmallVector<DimAttr> dims(cut(value).getDims());
  dims.insert(dims.begin() + group.get(value).dim, partsDim);
  return NamedTensorType::get(cut(value).getElementType(), dims);
}

/// The parts one after the other, as a repeat slices them.
Value PartsBuilder::toSlices(Value value) {
  math.setLoc(value.getLoc());
  Value both = math.create<SplitOp>(split(value), value, getName(value));
  return math.fitTo(both, RepeatOp::getStackedType(partsDim, cut(value)));
}

Value PartsBuilder::fromStack(Value value, Value stack) {
  math.setLoc(value.getLoc());
  Value both = math.fitTo(stack, split(value));
  return math.create<MergeOp>(value.getType(), both, getName(value));
}

RepeatOp PartsBuilder::createLoop() {
  SmallVector<Value> zeros, slices;
  SmallVector<Type> stacks;
  for (Value sum : group.getSums()) {
    math.setLoc(sum.getLoc());
    zeros.push_back(math.zeros(cast<NamedTensorType>(sum.getType())));
  }
  for (Value value : group.getCut())
    slices.push_back(toSlices(value));
  for (Value value : group.getStacked())
    stacks.push_back(RepeatOp::getStackedType(partsDim, cut(value)));
  return builder.create<RepeatOp>(group.getOps().front()->getLoc(), partsDim, /*reverse=*/false,
                                  zeros, slices, stacks);
}

void PartsBuilder::fillLoop(RepeatOp loop) {
  RepeatVariant part = loop.getVariant(0);
  OpBuilder inside = OpBuilder::atBlockEnd(&part.getBlock());
  IRMapping mapping;
  for (auto [value, slice] : llvm::zip_equal(group.getCut(), part.getSliceArgs()))
    mapping.map(value, slice);
  auto flows = [&](Value value) { return group.get(value); };
  ChunkBody chunk(flows, parts);
  for (Operation *op : group.getOps())
    chunk.cutTypes(op, inside.clone(*op, mapping));
  TensorBuilder add(inside, loop.getLoc());
  SmallVector<Value> yielded;
  for (auto [sum, carried] : llvm::zip_equal(group.getSums(), part.getCarriedArgs())) {
    add.setLoc(sum.getLoc());
    yielded.push_back(add.add(carried, mapping.lookup(sum)));
  }
  for (Value value : group.getStacked())
    yielded.push_back(mapping.lookup(value));
  inside.create<YieldOp>(loop.getLoc(), yielded);
  chunk.startAt(part.getIndex());
}

void PartsBuilder::replace(Value value, Value by) {
  value.replaceUsesWithIf(by, [&](OpOperand &use) {
    return !group.contains(block.findAncestorOpInBlock(*use.getOwner()));
  });
}

/// The loop stands where the group ends; what reads its results from between comes behind.
void PartsBuilder::run() {
  Operation *last = group.getOps().back();
  SmallVector<Operation *> later;
  for (Operation *op = group.getOps().front(); op != last; op = op->getNextNode())
    if (group.isBehind(op) && !group.contains(op))
      later.push_back(op);
  RepeatOp loop = createLoop();
  fillLoop(loop);
  builder.setInsertionPointAfter(loop);
  for (auto [sum, total] : llvm::zip_equal(group.getSums(), loop.getCarriedResults()))
    replace(sum, total);
  for (auto [value, stack] : llvm::zip_equal(group.getStacked(), loop.getStackedResults()))
    replace(value, fromStack(value, stack));
  for (Operation *op : later)
    op->moveBefore(&block, builder.getInsertionPoint());
  for (Operation *op : llvm::reverse(group.getOps()))
    if (op->use_empty())
      op->erase();
}

static InFlightDiagnostic refuse(func::FuncOp function, int64_t parts, const PartPlanner &planner) {
  InFlightDiagnostic error = function.emitError("cannot compute the loss in ") << parts << " parts";
  if (Operation *op = planner.getObstacle().op) {
    error.attachNote(op->getLoc()) << planner.getObstacle().why;
    return error;
  }
  std::string sizes;
  for (DimAttr dim : planner.getCandidates())
    sizes +=
        (sizes.empty() ? "" : ", ") + dim.getName().str() + " = " + std::to_string(dim.getSize());
  error.attachNote() << "what may be cut of the largest value, "
                     << (sizes.empty() ? "nothing" : sizes)
                     << ", is no multiple of that (nothing that an axis splits or a parameter has)";
  return error;
}

/// Takes an integer off a function.
static int64_t takeAttr(func::FuncOp function, StringRef name, int64_t otherwise) {
  auto value = dyn_cast_or_null<IntegerAttr>(function->removeAttr(name));
  return value ? value.getInt() : otherwise;
}

static LogicalResult computeInParts(func::FuncOp function) {
  int64_t parts = takeAttr(function, attr::kLossParts, 0);
  int64_t keptWhole = takeAttr(function, attr::kKeepWhole, kKeptWhole);
  auto accumulate = function->getAttrOfType<DictionaryAttr>(attr::kAccumulate);
  PartPlanner planner(function, accumulate ? accumulate.getAs<StringAttr>("dim") : StringAttr());
  std::optional<PartPlan> plan = parts == 0 ? planner.choose(keptWhole) : planner.find(parts);
  if (plan && plan->parts > 1) {
    PartsBuilder(function.getBody().front(), *plan).run();
    cleanUp(function);
  }
  if (!plan && parts > 1)
    return refuse(function, parts, planner);
  return success();
}

namespace {
struct ComputeInParts : titan::ir::impl::TitanComputeInPartsBase<ComputeInParts> {
  void runOnOperation() override {
    for (func::FuncOp function : getTrainPrograms(getOperation()))
      if (failed(computeInParts(function)))
        return signalPassFailure();
  }
};
} // namespace
