// A step in several microbatches of the batch.

#include "dialects/titan/IR/ElementTypes.h"
#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Support/TensorBuilder.h"
#include "dialects/titan/Transforms/Gradient/CleanUp.h"
#include "dialects/titan/Transforms/Gradient/LoopDistribution.h"
#include "dialects/titan/Transforms/Gradient/Passes.h"
#include "mlir/IR/IRMapping.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANACCUMULATE
#include "dialects/titan/Transforms/Gradient/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan::ir;

namespace {

/// Moves what depends on the batch into a repeat over its microbatches.
class Accumulator {
public:
  Accumulator(func::FuncOp function, const BatchDependence &dependence, StringAttr dim,
              int64_t microbatches)
      : function(function), block(function.getBody().front()), dependence(dependence), dim(dim),
        microbatches(microbatches), builder(block.getTerminator()) {}

  void run();

private:
  void sliceInputs();
  void collectSums();
  bool isLeaving(Value result) const;
  /// Whether all microbatches have the same value. Its mean is computed like a sum, in f32 at
  /// least, since its terms are fractions.
  bool isShared(Value result) const;
  NamedTensorType getSumType(Value sum) const;
  RepeatOp buildLoop();
  void finish(RepeatOp loop);

  func::FuncOp function;
  Block &block;
  const BatchDependence &dependence;
  StringAttr dim;
  int64_t microbatches;
  OpBuilder builder;
  SmallVector<Operation *> body;                     ///< what moves, in order
  SmallVector<std::pair<Value, Value>> slicedInputs; ///< an input's whole view and its microbatches
  SmallVector<Value> sums; ///< or means over the microbatches, that somebody outside needs
};

} // namespace

/// An input arrives in microbatches, `[microbatches, dim / microbatches, ...]`, so that what is
/// mapped to the machine is a microbatch. Operations that need the whole batch see both dimensions
/// merged.
void Accumulator::sliceInputs() {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&block);
  auto microbatchDim =
      DimAttr::get(builder.getContext(), builder.getStringAttr("microbatches"), microbatches);
  for (BlockArgument argument : function.getArguments()) {
    Dependence whole = dependence.getDependence(argument);
    if (whole.kind != Dependence::Sliced)
      continue;
    auto type = cast<NamedTensorType>(argument.getType());
    auto merge = builder.create<MergeOp>(argument.getLoc(), type, argument, dim);
    argument.replaceAllUsesExcept(merge, merge);
    SmallVector<DimAttr> dims(getChunkType(type, whole.dim, microbatches).getDims());
    dims.insert(dims.begin() + whole.dim, microbatchDim);
    argument.setType(NamedTensorType::get(type.getElementType(), dims));
    slicedInputs.push_back({merge, argument});
  }
  function.setType(builder.getFunctionType(block.getArgumentTypes(), function.getResultTypes()));
}

/// Whether an operation outside the loop reads the result of one inside. The loop returns sums. A
/// value that all microbatches share leaves as a mean, so that the operation need not run once more
/// outside, on the whole batch.
bool Accumulator::isLeaving(Value result) const {
  return (isShared(result) || dependence.getDependence(result).kind == Dependence::Accumulated) &&
         llvm::any_of(result.getUsers(), [&](Operation *user) {
           return !dependence.isInLoop(block.findAncestorOpInBlock(*user));
         });
}

bool Accumulator::isShared(Value result) const {
  return dependence.getDependence(result).kind == Dependence::Invariant &&
         isa<FloatType>(cast<NamedTensorType>(result.getType()).getElementType());
}

NamedTensorType Accumulator::getSumType(Value sum) const {
  auto type = cast<NamedTensorType>(sum.getType());
  return isShared(sum) ? type.withElementType(getAccumulationType(type.getElementType())) : type;
}

void Accumulator::collectSums() {
  for (Operation &op : block.without_terminator()) {
    if (!dependence.isInLoop(&op))
      continue;
    body.push_back(&op);
    for (Value result : op.getResults())
      if (isLeaving(result))
        sums.push_back(result);
  }
}

RepeatOp Accumulator::buildLoop() {
  TensorBuilder math(builder, function.getLoc());
  SmallVector<Value> zeros, slices;
  for (Value sum : sums) {
    math.setLoc(sum.getLoc());
    zeros.push_back(math.zeros(getSumType(sum)));
  }
  for (auto [whole, sliced] : slicedInputs)
    slices.push_back(sliced);
  auto microbatchDim =
      DimAttr::get(builder.getContext(), builder.getStringAttr("microbatches"), microbatches);
  auto loop = builder.create<RepeatOp>(function.getLoc(), microbatchDim, /*reverse=*/false, zeros,
                                       slices, TypeRange());
  RepeatVariant iteration = loop.getVariant(0);
  OpBuilder inside = OpBuilder::atBlockEnd(&iteration.getBlock());
  IRMapping mapping;
  for (auto [pair, slice] : llvm::zip_equal(slicedInputs, iteration.getScannedArgs()))
    mapping.map(pair.first, slice);
  auto dependences = [&](Value value) { return dependence.getDependence(value); };
  ChunkBody chunk(dependences, microbatches);
  for (Operation *op : body)
    chunk.setChunkTypes(op, inside.clone(*op, mapping));
  TensorBuilder add(inside, function.getLoc());
  SmallVector<Value> next;
  for (auto [sum, iterArg] : llvm::zip_equal(sums, iteration.getIterArgs())) {
    add.setLoc(sum.getLoc());
    Value term = mapping.lookup(sum);
    if (isShared(sum))
      term = add.scale(add.cast(term, getSumType(sum).getElementType()),
                       1.0 / static_cast<double>(microbatches));
    next.push_back(add.add(iterArg, term));
  }
  inside.create<YieldOp>(function.getLoc(), next);
  chunk.startAt(iteration.getIndex());
  return loop;
}

/// Redirects uses of the sums to the results of the loop, moves operations that depend on the sums
/// behind the loop, and erases operations that the loop now contains and nothing else uses.
void Accumulator::finish(RepeatOp loop) {
  auto isOutside = [&](Operation *user) {
    Operation *op = block.findAncestorOpInBlock(*user);
    return op && op != loop && !dependence.isInLoop(op);
  };
  DenseSet<Operation *> late{loop.getOperation()};
  TensorBuilder narrow(builder, function.getLoc());
  for (auto [sum, total] : llvm::zip_equal(sums, loop.getIterResults())) {
    narrow.setLoc(sum.getLoc());
    Value result = narrow.cast(total, cast<NamedTensorType>(sum.getType()).getElementType());
    late.insert(result.getDefiningOp());
    sum.replaceUsesWithIf(result, [&](OpOperand &use) { return isOutside(use.getOwner()); });
  }
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    if (&op == loop.getOperation())
      break;
    if (isOutside(&op) && readsAny(&op, block, late)) {
      late.insert(&op);
      op.moveBefore(block.getTerminator());
    }
  }
  for (Operation *op : llvm::reverse(body))
    if (op->use_empty())
      op->erase();
  for (auto [whole, sliced] : slicedInputs)
    if (whole.use_empty())
      whole.getDefiningOp()->erase();
}

void Accumulator::run() {
  sliceInputs();
  collectSums();
  finish(buildLoop());
}

/// On its way a dimension may be split into others, which the microbatches must divide, too.
static LogicalResult checkSizes(func::FuncOp function, const BatchDependence &dependence,
                                StringAttr dim, int64_t microbatches) {
  WalkResult result = function.walk([&](Operation *op) -> WalkResult {
    for (Value value : op->getResults()) {
      Dependence is = dependence.getDependence(value);
      auto type = dyn_cast<NamedTensorType>(value.getType());
      if (type && is.kind == Dependence::Sliced && type.getShape()[is.dim] % microbatches != 0)
        return op->emitError("cannot compute the step in ")
               << microbatches << " microbatches of `" << dim.getValue()
               << "`: they do not divide the dimension of " << type;
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Moves an operation on data and its operands out of all repeats.
static void hoist(Operation *op, Block &block) {
  Operation *outermost = block.findAncestorOpInBlock(*op);
  if (outermost == op)
    return;
  for (Value operand : op->getOperands())
    if (Operation *producer = operand.getDefiningOp())
      hoist(producer, block);
  op->moveBefore(outermost);
}

/// How many microbatches, and of which dimension: `titan.accumulate = {dim = "batch", microbatches
/// = 4}`.
static LogicalResult accumulate(func::FuncOp function) {
  auto settings = function->getAttrOfType<DictionaryAttr>(attr::kAccumulate);
  if (!settings)
    return success();
  auto dim = settings.getAs<StringAttr>("dim");
  auto microbatches = settings.getAs<IntegerAttr>("microbatches");
  if (!dim || !microbatches || microbatches.getInt() < 1)
    return function.emitOpError("needs a `dim` and at least one of `microbatches` in ")
           << attr::kAccumulate << ", got " << settings;
  function->removeAttr(attr::kAccumulate);
  for (BlockArgument argument : function.getArguments()) {
    auto type = cast<NamedTensorType>(argument.getType());
    if (type.hasDim(dim) &&
        type.getDims()[type.findDimIndex(dim)].getSize() % microbatches.getInt())
      return function.emitOpError("cannot slice `")
             << dim.getValue() << "` of argument " << argument.getArgNumber() << " into "
             << microbatches.getInt() << " equal microbatches";
  }
  FailureOr<BatchDependence> dependence =
      BatchDependence::analyze(function, dim, microbatches.getInt());
  if (succeeded(dependence) && !dependence->getDataSumsInRepeats().empty()) {
    for (Operation *sum : dependence->getDataSumsInRepeats())
      hoist(sum, function.getBody().front());
    dependence = BatchDependence::analyze(function, dim, microbatches.getInt());
  }
  // Parting a repeat makes the one around it differ.
  while (succeeded(dependence) && !dependence->getToDistribute().empty()) {
    if (failed(distributeRepeat(dependence->getToDistribute().front(), *dependence)))
      return failure();
    cleanUp(function);
    dependence = BatchDependence::analyze(function, dim, microbatches.getInt());
  }
  if (failed(dependence))
    return failure();
  if (failed(checkSizes(function, *dependence, dim, microbatches.getInt())))
    return failure();
  Accumulator(function, *dependence, dim, microbatches.getInt()).run();
  return success();
}

namespace {
struct Accumulate : titan::ir::impl::TitanAccumulateBase<Accumulate> {
  void runOnOperation() override {
    if (isTrainProgram(getOperation()) && failed(accumulate(getOperation())))
      signalPassFailure();
  }
};
} // namespace
