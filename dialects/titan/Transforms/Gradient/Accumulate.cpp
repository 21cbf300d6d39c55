// The pass --titan-accumulate: splits a step into microbatches and accumulates their gradients.

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

/// Moves the operations that depend on the batch into a repeat over its microbatches.
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
  bool isReadOutside(Value result) const;
  /// Whether all microbatches have the same value. Its mean is computed like a sum, in f32 at
  /// least, since its terms are fractions.
  bool isShared(Value result) const;
  NamedTensorType getSumType(Value sum) const;
  RepeatOp buildLoop();
  void finish(RepeatOp loop);
  void moveFills(RepeatOp loop);

  func::FuncOp function;
  Block &block;
  const BatchDependence &dependence;
  StringAttr dim;
  int64_t microbatches;
  OpBuilder builder;
  SmallVector<Operation *> body; ///< the operations to move, in order
  /// The sliced inputs: a view of the whole batch, and the argument with a dimension of
  /// microbatches.
  SmallVector<std::pair<Value, Value>> slicedInputs;
  /// The sums (or means) over the microbatches that operations outside the loop read.
  SmallVector<Value> sums;
};

} // namespace

/// Gives inputs a dimension of microbatches, `[microbatches, dim / microbatches, ...]`, so that
/// mesh axes shard each microbatch. Operations that need the whole batch read a merge of both
/// dimensions.
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

/// Whether an operation outside the loop reads `result`, of an operation inside. The loop then
/// returns the sum over the microbatches. If all microbatches have the same value, it returns the
/// mean, so that the operation need not run again outside.
bool Accumulator::isReadOutside(Value result) const {
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
      if (isReadOutside(result))
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
  TensorBuilder bodyMath(inside, function.getLoc());
  SmallVector<Value> next;
  for (auto [sum, iterArg] : llvm::zip_equal(sums, iteration.getIterArgs())) {
    bodyMath.setLoc(sum.getLoc());
    Value term = mapping.lookup(sum);
    if (isShared(sum))
      term = bodyMath.scale(bodyMath.cast(term, getSumType(sum).getElementType()),
                            1.0 / static_cast<double>(microbatches));
    next.push_back(bodyMath.add(iterArg, term));
  }
  inside.create<YieldOp>(function.getLoc(), next);
  chunk.startAt(iteration.getIndex());
  return loop;
}

/// Redirects uses of the sums to the results of the loop, moves operations that depend on the sums
/// after the loop, and erases the originals of the loop's operations if they have no other uses.
void Accumulator::finish(RepeatOp loop) {
  auto isOutside = [&](Operation *user) {
    Operation *op = block.findAncestorOpInBlock(*user);
    return op && op != loop && !dependence.isInLoop(op);
  };
  DenseSet<Operation *> afterLoop{loop.getOperation()};
  TensorBuilder math(builder, function.getLoc());
  for (auto [sum, total] : llvm::zip_equal(sums, loop.getIterResults())) {
    math.setLoc(sum.getLoc());
    Value result = math.cast(total, cast<NamedTensorType>(sum.getType()).getElementType());
    afterLoop.insert(result.getDefiningOp());
    sum.replaceUsesWithIf(result, [&](OpOperand &use) { return isOutside(use.getOwner()); });
  }
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    if (&op == loop.getOperation())
      break;
    if (isOutside(&op) && readsAny(&op, block, afterLoop)) {
      afterLoop.insert(&op);
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

/// Fills tensors with a constant in the loop that reads them, such as the zeros with which sums
/// inside the loop begin. Otherwise each would be in memory for the whole step.
void Accumulator::moveFills(RepeatOp loop) {
  Block &inside = loop.getVariant(0).getBlock();
  for (auto fill : llvm::make_early_inc_range(block.getOps<ExpandOp>())) {
    auto isInLoop = [&](OpOperand &use) { return loop->isProperAncestor(use.getOwner()); };
    if (!fill.getInput().getDefiningOp<ConstantOp>() || llvm::none_of(fill->getUses(), isInLoop))
      continue;
    Operation *first = nullptr;
    for (OpOperand &use : fill->getUses())
      if (Operation *user = inside.findAncestorOpInBlock(*use.getOwner());
          user && (!first || user->isBeforeInBlock(first)))
        first = user;
    Operation *moved = OpBuilder(first).clone(*fill);
    fill->getResult(0).replaceUsesWithIf(moved->getResult(0), isInLoop);
    if (fill->use_empty())
      fill->erase();
  }
}

void Accumulator::run() {
  sliceInputs();
  collectSums();
  RepeatOp loop = buildLoop();
  finish(loop);
  moveFills(loop);
}

/// Operations may split or merge the dimension. The number of microbatches must divide the sizes of
/// all dimensions that derive from it.
static LogicalResult checkSizes(func::FuncOp function, const BatchDependence &dependence,
                                StringAttr dim, int64_t microbatches) {
  WalkResult result = function.walk([&](Operation *op) -> WalkResult {
    for (Value value : op->getResults()) {
      Dependence slicing = dependence.getDependence(value);
      auto type = dyn_cast<NamedTensorType>(value.getType());
      if (type && slicing.kind == Dependence::Sliced &&
          type.getShape()[slicing.dim] % microbatches != 0)
        return op->emitError("cannot compute the step in ")
               << microbatches << " microbatches of `" << dim.getValue()
               << "`: they do not divide the dimension of " << type;
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Moves an operation on inputs, and the operations that compute its operands, before the outermost
/// repeat around it.
static void hoist(Operation *op, Block &block) {
  Operation *outermost = block.findAncestorOpInBlock(*op);
  if (outermost == op)
    return;
  for (Value operand : op->getOperands())
    if (Operation *producer = operand.getDefiningOp())
      hoist(producer, block);
  op->moveBefore(outermost);
}

/// Splits the step as `titan.accumulate` requests, for example
/// `{dim = "batch", microbatches = 4}`, and removes the attribute.
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
  // One at a time: the distribution of a repeat changes the repeat around it.
  while (succeeded(dependence) && !dependence->getRepeatsToDistribute().empty()) {
    if (failed(distributeRepeat(dependence->getRepeatsToDistribute().front(), *dependence)))
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
