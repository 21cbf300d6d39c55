//===- Accumulate.cpp - A step in several parts of the batch --------------===//

#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Support/TensorBuilder.h"
#include "dialects/titan/Transforms/Gradient/CleanUp.h"
#include "dialects/titan/Transforms/Gradient/Passes.h"
#include "dialects/titan/Transforms/Gradient/RepeatTail.h"
#include "mlir/IR/IRMapping.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANACCUMULATE
#include "dialects/titan/Transforms/Gradient/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan::ir;

namespace {

/// Moves what depends on the batch into a repeat over its parts.
class Accumulator {
public:
  Accumulator(func::FuncOp function, const BatchFlow &flow, StringAttr dim, int64_t parts)
      : function(function), block(function.getBody().front()), flow(flow), dim(dim), parts(parts),
        builder(block.getTerminator()) {}

  void run();

private:
  void cutInputs();
  void collectSums();
  RepeatOp buildLoop();
  void finish(RepeatOp loop);

  func::FuncOp function;
  Block &block;
  const BatchFlow &flow;
  StringAttr dim;
  int64_t parts;
  OpBuilder builder;
  SmallVector<Operation *> body;             ///< what moves, in order
  SmallVector<std::pair<Value, Value>> cuts; ///< an input's whole view and its parts
  SmallVector<Value> sums;                   ///< of the parts, that somebody outside needs
};

} // namespace

/// An input arrives in parts, `[parts, dim / parts, ...]`, so that what is mapped to the machine is
/// a part. Whoever needs it whole sees both dimensions merged.
void Accumulator::cutInputs() {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&block);
  auto partsDim = DimAttr::get(builder.getContext(), builder.getStringAttr("microbatches"), parts);
  for (BlockArgument argument : function.getArguments()) {
    Flow whole = flow.get(argument);
    if (whole.kind != Flow::Split)
      continue;
    auto type = cast<NamedTensorType>(argument.getType());
    auto merge = builder.create<MergeOp>(argument.getLoc(), type, argument, dim);
    argument.replaceAllUsesExcept(merge, merge);
    SmallVector<DimAttr> dims(cutType(type, whole.dim, parts).getDims());
    dims.insert(dims.begin() + whole.dim, partsDim);
    argument.setType(NamedTensorType::get(type.getElementType(), dims));
    cuts.push_back({merge, argument});
  }
  function.setType(builder.getFunctionType(block.getArgumentTypes(), function.getResultTypes()));
}

void Accumulator::collectSums() {
  for (Operation &op : block.without_terminator()) {
    if (!flow.isInLoop(&op))
      continue;
    body.push_back(&op);
    for (Value result : op.getResults())
      if (flow.get(result).kind == Flow::Sum &&
          llvm::any_of(result.getUsers(), [&](Operation *user) { return !flow.isInLoop(user); }))
        sums.push_back(result);
  }
}

RepeatOp Accumulator::buildLoop() {
  TensorBuilder math(builder, function.getLoc());
  SmallVector<Value> zeros, slices;
  for (Value sum : sums) {
    math.setLoc(sum.getLoc());
    zeros.push_back(math.zeros(cast<NamedTensorType>(sum.getType())));
  }
  for (auto [whole, inParts] : cuts)
    slices.push_back(inParts);
  auto partsDim = DimAttr::get(builder.getContext(), builder.getStringAttr("microbatches"), parts);
  auto loop = builder.create<RepeatOp>(function.getLoc(), partsDim, /*reverse=*/false, zeros,
                                       slices, TypeRange());
  RepeatVariant part = loop.getVariant(0);
  OpBuilder inside = OpBuilder::atBlockEnd(&part.getBlock());
  IRMapping mapping;
  for (auto [pair, slice] : llvm::zip_equal(cuts, part.getSliceArgs()))
    mapping.map(pair.first, slice);
  auto flows = [&](Value value) { return flow.get(value); };
  ChunkBody chunk(flows, parts);
  for (Operation *op : body) {
    Operation *copy = inside.clone(*op, mapping);
    chunk.cutTypes(op, copy);
    // Every part draws numbers of its own.
    copy->walk([&](RandomOp random) {
      if (random.getType().hasDim(dim))
        random.getKeysMutable().append(part.getIndex());
    });
  }
  TensorBuilder add(inside, function.getLoc());
  SmallVector<Value> next;
  for (auto [sum, carried] : llvm::zip_equal(sums, part.getCarriedArgs())) {
    add.setLoc(sum.getLoc());
    next.push_back(add.add(carried, mapping.lookup(sum)));
  }
  inside.create<YieldOp>(function.getLoc(), next);
  chunk.startAt(part.getIndex());
  return loop;
}

/// What needs the sums comes behind the loop; what moved into it goes, but for what others need of
/// the whole batch.
void Accumulator::finish(RepeatOp loop) {
  for (auto [sum, total] : llvm::zip_equal(sums, loop.getCarriedResults()))
    sum.replaceUsesWithIf(total, [&](OpOperand &use) {
      return use.getOwner()->getBlock() == &block && !flow.isInLoop(use.getOwner());
    });
  SmallVector<Operation *> later; // before any is moved, or those that were would come again
  for (Operation &op : block.without_terminator())
    if (op.getNumResults() && flow.get(op.getResult(0)).kind == Flow::After)
      later.push_back(&op);
  for (Operation *op : later)
    op->moveBefore(block.getTerminator());
  for (Operation *op : llvm::reverse(body))
    if (op->use_empty())
      op->erase();
  for (auto [whole, inParts] : cuts)
    if (whole.use_empty())
      whole.getDefiningOp()->erase();
}

void Accumulator::run() {
  cutInputs();
  collectSums();
  finish(buildLoop());
}

/// On its way a dimension may be split into others, which the parts must divide, too.
static LogicalResult checkSizes(func::FuncOp function, const BatchFlow &flow, StringAttr dim,
                                int64_t parts) {
  WalkResult result = function.walk([&](Operation *op) -> WalkResult {
    for (Value value : op->getResults()) {
      Flow is = flow.get(value);
      auto type = dyn_cast<NamedTensorType>(value.getType());
      if (type && is.kind == Flow::Split && type.getShape()[is.dim] % parts != 0)
        return op->emitError("cannot compute the step in ")
               << parts << " parts of `" << dim.getValue()
               << "`: they do not divide the dimension of " << type;
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// How many parts, and of which dimension: `titan.accumulate = {dim = "batch", parts = 4}`.
static LogicalResult accumulate(func::FuncOp function) {
  auto settings = function->getAttrOfType<DictionaryAttr>(attr::kAccumulate);
  if (!settings)
    return success();
  auto dim = settings.getAs<StringAttr>("dim");
  auto parts = settings.getAs<IntegerAttr>("parts");
  if (!dim || !parts || parts.getInt() < 1)
    return function.emitOpError("needs a `dim` and at least one of `parts` in ")
           << attr::kAccumulate << ", got " << settings;
  function->removeAttr(attr::kAccumulate);
  if (parts.getInt() == 1)
    return success();
  for (BlockArgument argument : function.getArguments()) {
    auto type = cast<NamedTensorType>(argument.getType());
    if (type.hasDim(dim) && type.getDims()[type.indexOf(dim)].getSize() % parts.getInt())
      return function.emitOpError("cannot cut `")
             << dim.getValue() << "` of argument " << argument.getArgNumber() << " into "
             << parts.getInt() << " equal parts";
  }
  FailureOr<BatchFlow> flow = BatchFlow::analyze(function, dim, parts.getInt());
  // Parting a repeat makes the one around it differ.
  while (succeeded(flow) && !flow->getMixed().empty()) {
    if (failed(splitTail(flow->getMixed().front(), *flow)))
      return failure();
    cleanUp(function);
    flow = BatchFlow::analyze(function, dim, parts.getInt());
  }
  if (failed(flow))
    return failure();
  if (failed(checkSizes(function, *flow, dim, parts.getInt())))
    return failure();
  Accumulator(function, *flow, dim, parts.getInt()).run();
  return success();
}

namespace {
struct Accumulate : titan::ir::impl::TitanAccumulateBase<Accumulate> {
  void runOnOperation() override {
    for (func::FuncOp function : getTrainPrograms(getOperation()))
      if (failed(accumulate(function)))
        return signalPassFailure();
  }
};
} // namespace
