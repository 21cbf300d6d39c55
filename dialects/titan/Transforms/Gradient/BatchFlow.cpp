//===- BatchFlow.cpp - What the values of a step have to do with the batch ===//

#include "dialects/titan/Transforms/Gradient/BatchFlow.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

bool BatchFlow::set(Value value, Flow flow) {
  return std::exchange(flows[value], flow) != flow;
}

bool BatchFlow::hasKind(Operation *op, Flow::Kind kind) const {
  return llvm::any_of(op->getOperands(), [&](Value value) { return get(value).kind == kind; });
}

/// Zeros, also repeated along dimensions or declared: where a sum starts.
static bool isZero(Value value) {
  if (auto expand = value.getDefiningOp<ExpandOp>())
    return isZero(expand.getInput());
  if (auto constraint = value.getDefiningOp<ShardingConstraintOp>())
    return isZero(constraint.getInput());
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && constant.getValue().isZero();
}

/// Depends on inputs alone, so that it can be computed of the whole batch beforehand.
bool BatchFlow::isData(Operation *op) const {
  return op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(), [&](Value value) { return data.contains(value); });
}

/// Whether results that have the dimension may be made for each part: random numbers are drawn for
/// each part by a key of its own.
bool BatchFlow::mayMakeParts(Operation *op) const {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  return !ruled || isa<RandomOp>(op) ||
         llvm::all_of(ruled.getShardingRule().factors, [&](const dist::Factor &factor) {
           return factor.name != dim.getValue() || mayCutAlong(op, factor);
         });
}

/// What comes from no part but has the dimension is made anew for every part.
LogicalResult BatchFlow::followWhole(Operation *op) {
  if (!mayMakeParts(op))
    return op->emitError("depends on the index along `")
           << dim.getValue() << "`, so the step cannot be computed a part of it at a time";
  for (Value result : op->getResults()) {
    Flow flow;
    for (auto [at, has] : llvm::enumerate(cast<NamedTensorType>(result.getType()).getDims()))
      if (has.getName() == dim)
        flow = {Flow::Split, static_cast<unsigned>(at)};
    set(result, flow);
  }
  return success();
}

/// True where the operation is jointly linear in what is a sum (or zero), and in nothing else.
bool BatchFlow::passesSums(Operation *op) const {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled)
    return false;
  return llvm::any_of(ruled.getShardingRule().linearSets, [&](const std::vector<unsigned> &set) {
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      Flow::Kind kind = get(operand).kind;
      bool inSet = llvm::is_contained(set, i);
      if (inSet ? kind != Flow::Sum && kind != Flow::Zero : kind == Flow::Sum)
        return false;
    }
    return true;
  });
}

void BatchFlow::setResults(Operation *op, Flow flow) {
  for (Value result : op->getResults())
    set(result, flow);
}

LogicalResult BatchFlow::followSplit(Operation *op) {
  auto results = cutResults(op, [&](Value value) { return get(value); });
  if (!results)
    return op->emitError(
               "needs the whole batch at once, so the step cannot be computed a part of `")
           << dim.getValue() << "` at a time";
  for (auto [result, flow] : llvm::zip_equal(op->getResults(), *results)) {
    if (flow.kind == Flow::Split) {
      DimAttr cut = cast<NamedTensorType>(result.getType()).getDims()[flow.dim];
      if (cut.getSize() % parts != 0)
        return op->emitError("gives `") << cut.getName().getValue() << "` " << cut.getSize()
                                        << " elements, so the step cannot be computed in " << parts
                                        << " microbatches of `" << dim.getValue() << "`";
    }
    set(result, flow);
  }
  return success();
}

LogicalResult BatchFlow::follow(Operation *op) {
  if (auto repeat = dyn_cast<RepeatOp>(op))
    return followRepeat(repeat);
  if (isData(op))
    data.insert(op->result_begin(), op->result_end());
  if (hasKind(op, Flow::Split)) {
    if (failed(followSplit(op)))
      return failure();
    // A sum over inputs alone, such as the number of valid tokens, is known beforehand.
    for (Value result : op->getResults())
      if (data.contains(result) && get(result).kind == Flow::Sum)
        set(result, {});
  } else if (hasKind(op, Flow::After)) {
    setResults(op, {Flow::After});
  } else if (hasKind(op, Flow::Sum)) {
    setResults(op, {passesSums(op) ? Flow::Sum : Flow::After});
  } else if (hasKind(op, Flow::Zero) && passesSums(op)) {
    setResults(op, {Flow::Zero});
  } else {
    return followWhole(op);
  }
  return success();
}

/// A carried value is what it starts as and what every iteration makes of it.
LogicalResult BatchFlow::join(RepeatOp repeat, Flow next, Flow &into) {
  auto isSame = [](Flow flow) { return flow.kind == Flow::Whole || flow.kind == Flow::Zero; };
  if (next == into || (into.kind == Flow::After && isSame(next)) ||
      ((into.kind == Flow::Sum || into.kind == Flow::Whole) && next.kind == Flow::Zero))
    return success();
  if (into.kind == Flow::Zero || (into.kind == Flow::Whole && next.kind == Flow::After)) {
    into = next;
    return success();
  }
  return repeat.emitError("carries a value that is ")
         << (into.kind == Flow::Whole ? "the same for all parts" : "of one part") << " of `"
         << dim.getValue()
         << "` at first and not later, so the step cannot be computed a part at a time";
}

LogicalResult BatchFlow::followBody(const RepeatVariant &body, bool &changed) {
  RepeatOp repeat = body.getRepeat();
  set(body.getIndex(), {});
  for (auto [i, argument] : llvm::enumerate(body.getCarriedArgs()))
    set(argument, get(repeat.getResult(i)));
  for (auto [stack, slice, number] : body.getSlices()) {
    Flow flow = get(stack);
    if (flow.kind == Flow::Split && flow.dim == 0)
      return repeat.emitError("iterates over `") << dim.getValue() << '`';
    set(slice, flow.kind == Flow::Split ? Flow{Flow::Split, flow.dim - 1} : flow);
  }
  if (failed(followBlock(body.getBlock())))
    return failure();
  for (auto [i, yielded] : llvm::enumerate(body.getYieldedCarried())) {
    Value result = repeat.getResult(i);
    Flow flow = get(result);
    if (failed(join(repeat, get(yielded), flow)))
      return failure();
    changed |= set(result, flow);
  }
  return success();
}

/// The slots of a stack are alike, whichever variant fills them.
LogicalResult BatchFlow::followStack(RepeatOp repeat, OpResult stack) {
  Flow joined{Flow::Zero};
  for (Value yielded : repeat.getYielded(stack.getResultNumber())) {
    Flow flow = get(yielded);
    if (flow.kind == Flow::Whole && isZero(yielded))
      flow = {Flow::Zero};
    if (failed(join(repeat, flow, joined)))
      return failure();
  }
  if (joined.kind == Flow::Zero)
    joined = {};
  set(stack, joined.kind == Flow::Split ? Flow{Flow::Split, joined.dim + 1} : joined);
  return success();
}

LogicalResult BatchFlow::followRepeat(RepeatOp repeat) {
  for (auto [i, init] : llvm::enumerate(repeat.getInits())) {
    bool startsAtZero = get(init).kind == Flow::Whole && isZero(init);
    set(repeat.getResult(i), startsAtZero ? Flow{Flow::Zero} : get(init));
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const RepeatVariant &body : repeat.getVariants())
      if (failed(followBody(body, changed)))
        return failure();
  }
  for (Value stack : repeat.getStackedResults())
    if (failed(followStack(repeat, cast<OpResult>(stack))))
      return failure();
  bool parts = false, after = false;
  repeat.walk([&](Operation *op) {
    for (Value result : op->getResults()) {
      Flow::Kind kind = get(result).kind;
      parts |= kind == Flow::Split || kind == Flow::Sum;
      after |= kind == Flow::After;
    }
  });
  auto isAfter = [&](Value result) { return get(result).kind == Flow::After; };
  if (parts && after && llvm::none_of(repeat.getCarriedResults(), isAfter) &&
      llvm::any_of(repeat.getStackedResults(), isAfter))
    mixed.insert(repeat);
  else if (parts && after)
    return repeat.emitError("needs a sum over the whole batch between its iterations, so the step "
                            "cannot be computed a part of `")
           << dim.getValue() << "` at a time";
  if (parts)
    inLoop.insert(repeat);
  return success();
}

LogicalResult BatchFlow::followBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(follow(&op)))
      return failure();
  return success();
}

FailureOr<BatchFlow> BatchFlow::analyze(func::FuncOp function, StringAttr dim, int64_t parts) {
  BatchFlow flow(dim, parts);
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), attr::kInput)) {
      flow.data.insert(argument);
      auto type = cast<NamedTensorType>(argument.getType());
      if (type.hasDim(dim))
        flow.set(argument, {Flow::Split, static_cast<unsigned>(type.indexOf(dim))});
    }
  Block &block = function.getBody().front();
  if (failed(flow.followBlock(block)))
    return failure();
  for (Operation &op : block.without_terminator())
    if (llvm::any_of(op.getResults(), [&](Value result) {
          Flow::Kind kind = flow.get(result).kind;
          return kind == Flow::Split || kind == Flow::Sum;
        }))
      flow.inLoop.insert(&op);
  for (Value returned : block.getTerminator()->getOperands())
    if (flow.get(returned).kind == Flow::Split)
      return function.emitError("returns a value with the dimension `")
             << dim.getValue() << "`, which is never whole";
  return flow;
}
