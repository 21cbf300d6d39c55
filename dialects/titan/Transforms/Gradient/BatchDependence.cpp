// How the values of a step depend on the microbatch.

#include "dialects/titan/Transforms/Gradient/BatchDependence.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

static constexpr StringLiteral kRemedy = "; `accumulate = 1` computes it whole";

bool BatchDependence::set(Value value, Dependence dependence) {
  return std::exchange(dependences[value], dependence) != dependence;
}

bool BatchDependence::hasKind(Operation *op, Dependence::Kind kind) const {
  return llvm::any_of(op->getOperands(),
                      [&](Value value) { return getDependence(value).kind == kind; });
}

/// Whether `value` is zero, perhaps expanded or constrained: the initial value of a sum.
static bool isZero(Value value) {
  if (auto expand = value.getDefiningOp<ExpandOp>())
    return isZero(expand.getInput());
  if (auto constraint = value.getDefiningOp<ShardingConstraintOp>())
    return isZero(constraint.getInput());
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && constant.getNumber() == 0;
}

/// Whether `op` computes from inputs only, so that it can be evaluated on the whole batch before
/// the loop.
bool BatchDependence::isData(Operation *op) const {
  return op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(), [&](Value value) { return data.contains(value); });
}

/// Whether results with the dimension may be created in each microbatch. Random numbers may: each
/// microbatch has its own key.
bool BatchDependence::mayCreatePerMicrobatch(Operation *op) const {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  return !ruled || llvm::all_of(ruled.getShardingRule().factors, [&](const dist::Factor &factor) {
    return factor.name != dim.getValue() || mayChunkAlong(op, factor);
  });
}

/// A result that has the dimension while no operand is sliced is created in every microbatch.
LogicalResult BatchDependence::followInvariant(Operation *op) {
  if (!mayCreatePerMicrobatch(op))
    return op->emitError("depends on the index along `")
           << dim.getValue() << "`, so the step cannot be split into microbatches of it" << kRemedy;
  for (Value result : op->getResults()) {
    Dependence dependence;
    for (auto [at, has] : llvm::enumerate(cast<NamedTensorType>(result.getType()).getDims()))
      if (has.getName() == dim)
        dependence = {Dependence::Sliced, static_cast<unsigned>(at)};
    set(result, dependence);
  }
  return success();
}

/// Whether the operation is jointly linear in its accumulated (or zero) operands and in no others.
bool BatchDependence::isLinearInSums(Operation *op) const {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled)
    return false;
  return llvm::any_of(ruled.getShardingRule().linearSets, [&](const std::vector<unsigned> &set) {
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      Dependence::Kind kind = getDependence(operand).kind;
      bool inSet = llvm::is_contained(set, i);
      if (inSet ? kind != Dependence::Accumulated && kind != Dependence::Zero
                : kind == Dependence::Accumulated)
        return false;
    }
    return true;
  });
}

void BatchDependence::setResults(Operation *op, Dependence dependence) {
  for (Value result : op->getResults())
    set(result, dependence);
}

LogicalResult BatchDependence::followSliced(Operation *op) {
  auto results = inferResults(op, [&](Value value) { return getDependence(value); });
  if (!results)
    return op->emitError(
               "needs the whole batch at once, so the step cannot be split into microbatches of `")
           << dim.getValue() << "`" << kRemedy;
  for (auto [result, dependence] : llvm::zip_equal(op->getResults(), *results)) {
    if (dependence.kind == Dependence::Sliced) {
      DimAttr sliced = cast<NamedTensorType>(result.getType()).getDims()[dependence.dim];
      if (sliced.getSize() % microbatches != 0)
        return op->emitError("gives `")
               << sliced.getName().getValue() << "` " << sliced.getSize()
               << " elements, so the step cannot be computed in " << microbatches
               << " microbatches of `" << dim.getValue() << "`";
    }
    set(result, dependence);
  }
  return success();
}

/// A sum over inputs, such as the number of valid tokens, is computed before the loop.
void BatchDependence::computeBeforeLoop(Operation *op) {
  for (Value result : op->getResults())
    if (data.contains(result) && getDependence(result).kind == Dependence::Accumulated) {
      set(result, {});
      if (op->getParentOfType<RepeatOp>())
        dataSumsInRepeats.insert(op);
    }
}

LogicalResult BatchDependence::follow(Operation *op) {
  if (auto repeat = dyn_cast<RepeatOp>(op))
    return followRepeat(repeat);
  if (isData(op))
    data.insert(op->result_begin(), op->result_end());
  if (hasKind(op, Dependence::Sliced)) {
    if (failed(followSliced(op)))
      return failure();
    computeBeforeLoop(op);
  } else if (hasKind(op, Dependence::AfterAccumulation)) {
    setResults(op, {Dependence::AfterAccumulation});
  } else if (hasKind(op, Dependence::Accumulated)) {
    setResults(op, {isLinearInSums(op) ? Dependence::Accumulated : Dependence::AfterAccumulation});
  } else if (hasKind(op, Dependence::Zero) && isLinearInSums(op)) {
    setResults(op, {Dependence::Zero});
  } else {
    return followInvariant(op);
  }
  return success();
}

/// The dependence of an iteration argument: that of its initial value joined with that of the
/// yielded value.
LogicalResult BatchDependence::join(RepeatOp repeat, Dependence next, Dependence &into) {
  auto isSame = [](Dependence dependence) {
    return dependence.kind == Dependence::Invariant || dependence.kind == Dependence::Zero;
  };
  if (next == into || (into.kind == Dependence::AfterAccumulation && isSame(next)) ||
      ((into.kind == Dependence::Accumulated || into.kind == Dependence::Invariant) &&
       next.kind == Dependence::Zero))
    return success();
  if (into.kind == Dependence::Zero ||
      (into.kind == Dependence::Invariant && next.kind == Dependence::AfterAccumulation)) {
    into = next;
    return success();
  }
  return repeat.emitError("carries a value that is ")
         << (into.kind == Dependence::Invariant ? "the same for all microbatches"
                                                : "of one microbatch")
         << " of `" << dim.getValue()
         << "` at first and not later, so the step cannot be split into microbatches";
}

LogicalResult BatchDependence::followBody(const RepeatVariant &body, bool &changed) {
  RepeatOp repeat = body.getRepeat();
  set(body.getIndex(), {});
  for (auto [i, argument] : llvm::enumerate(body.getIterArgs()))
    set(argument, getDependence(repeat.getResult(i)));
  for (auto [stack, slice, number] : body.getScannedInputs()) {
    Dependence dependence = getDependence(stack);
    if (dependence.kind == Dependence::Sliced && dependence.dim == 0)
      return repeat.emitError("iterates over `") << dim.getValue() << '`';
    set(slice, dependence.kind == Dependence::Sliced
                   ? Dependence{Dependence::Sliced, dependence.dim - 1}
                   : dependence);
  }
  if (failed(followBlock(body.getBlock())))
    return failure();
  for (auto [i, yielded] : llvm::enumerate(body.getYieldedIterArgs())) {
    Value result = repeat.getResult(i);
    Dependence dependence = getDependence(result);
    if (failed(join(repeat, getDependence(yielded), dependence)))
      return failure();
    changed |= set(result, dependence);
  }
  return success();
}

/// The dependence of a stacked output: the join over all variants that yield it.
LogicalResult BatchDependence::followStackedOutput(RepeatOp repeat, OpResult stack) {
  Dependence joined{Dependence::Zero};
  for (Value yielded : repeat.getYielded(stack.getResultNumber())) {
    Dependence dependence = getDependence(yielded);
    if (dependence.kind == Dependence::Invariant && isZero(yielded))
      dependence = {Dependence::Zero};
    if (failed(join(repeat, dependence, joined)))
      return failure();
  }
  if (joined.kind == Dependence::Zero)
    joined = {};
  set(stack,
      joined.kind == Dependence::Sliced ? Dependence{Dependence::Sliced, joined.dim + 1} : joined);
  return success();
}

LogicalResult BatchDependence::followRepeat(RepeatOp repeat) {
  for (auto [i, init] : llvm::enumerate(repeat.getInits())) {
    bool startsAtZero = getDependence(init).kind == Dependence::Invariant && isZero(init);
    set(repeat.getResult(i), startsAtZero ? Dependence{Dependence::Zero} : getDependence(init));
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const RepeatVariant &body : repeat.getVariants())
      if (failed(followBody(body, changed)))
        return failure();
  }
  for (Value stack : repeat.getStackedOutputs())
    if (failed(followStackedOutput(repeat, cast<OpResult>(stack))))
      return failure();
  bool isSliced = false, after = false;
  repeat.walk([&](Operation *op) {
    for (Value result : op->getResults()) {
      Dependence::Kind kind = getDependence(result).kind;
      isSliced |= kind == Dependence::Sliced || kind == Dependence::Accumulated;
      after |= kind == Dependence::AfterAccumulation;
    }
  });
  auto isAfter = [&](Value result) {
    return getDependence(result).kind == Dependence::AfterAccumulation;
  };
  if (isSliced && after && llvm::none_of(repeat.getIterResults(), isAfter) &&
      llvm::any_of(repeat.getStackedOutputs(), isAfter))
    repeatsToDistribute.insert(repeat);
  else if (isSliced && after)
    return repeat.emitError("needs a sum over the whole batch between its iterations, so the step "
                            "cannot be split into microbatches of `")
           << dim.getValue() << "`" << kRemedy;
  if (isSliced)
    inLoop.insert(repeat);
  return success();
}

LogicalResult BatchDependence::followBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(follow(&op)))
      return failure();
  return success();
}

bool titan::ir::readsAny(Operation *op, Block &block, const DenseSet<Operation *> &producers) {
  auto isProduced = [&](Value value) {
    Operation *producer = value.getDefiningOp();
    return producer && producers.contains(block.findAncestorOpInBlock(*producer));
  };
  return op
      ->walk([&](Operation *nested) {
        return llvm::any_of(nested->getOperands(), isProduced) ? WalkResult::interrupt()
                                                               : WalkResult::advance();
      })
      .wasInterrupted();
}

void BatchDependence::collectLoop(Block &block) {
  for (Operation &op : block.without_terminator())
    if (llvm::any_of(op.getResults(), [&](Value result) {
          Dependence::Kind kind = getDependence(result).kind;
          return kind == Dependence::Sliced || kind == Dependence::Accumulated;
        }))
      inLoop.insert(&op);
  closeLoop(block);
}

/// Adds the operations on paths between operations of the loop. A repeat may carry a sliced and an
/// invariant value, and its gradient needs the cotangents of both.
void BatchDependence::closeLoop(Block &block) {
  DenseSet<Operation *> reached = inLoop;
  for (Operation &op : block.without_terminator()) {
    bool isShared = llvm::all_of(op.getOperands(), [&](Value operand) {
      Dependence::Kind kind = getDependence(operand).kind;
      return kind == Dependence::Invariant || kind == Dependence::Zero;
    });
    if (isShared && readsAny(&op, block, reached))
      reached.insert(&op);
  }
  auto isReadInLoop = [&](Operation *user) {
    return inLoop.contains(block.findAncestorOpInBlock(*user));
  };
  for (Operation &op : llvm::reverse(block.without_terminator()))
    if (reached.contains(&op) && llvm::any_of(op.getUsers(), isReadInLoop))
      inLoop.insert(&op);
}

FailureOr<BatchDependence> BatchDependence::analyze(func::FuncOp function, StringAttr dim,
                                                    int64_t microbatches) {
  BatchDependence dependence(dim, microbatches);
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), attr::kInput)) {
      dependence.data.insert(argument);
      auto type = cast<NamedTensorType>(argument.getType());
      if (type.hasDim(dim))
        dependence.set(argument,
                       {Dependence::Sliced, static_cast<unsigned>(type.findDimIndex(dim))});
    }
  Block &block = function.getBody().front();
  if (failed(dependence.followBlock(block)))
    return failure();
  dependence.collectLoop(block);
  for (Value returned : block.getTerminator()->getOperands())
    if (dependence.getDependence(returned).kind == Dependence::Sliced)
      return function.emitError("returns a value with the dimension `")
             << dim.getValue() << "`, which is never complete";
  return dependence;
}
