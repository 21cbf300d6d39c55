// The pass --titan-find-sample-sums.
//
// The analysis follows the samples through the sharding rules, as a loop with one sample per
// iteration does (Chunks.h).

#include "dialects/titan/IR/RepeatVariant.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/Transforms/Gradient/Chunks.h"
#include "dialects/titan/Transforms/Model/Passes.h"
#include "llvm/ADT/DenseMap.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANFINDSAMPLESUMS
#include "dialects/titan/Transforms/Model/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan;
using namespace titan::ir;

/// `Invariant`, `Sliced` or `Accumulated`. None for a value that relates samples to one another, is
/// not linear in a sum, or depends on the index of a sample.
using Known = std::optional<Dependence>;

namespace {
/// Which values are a constant plus one term per sample, where each term depends on that sample
/// alone.
class SampleSums {
public:
  /// Analyses a function whose inputs have the samples along the dimension `samples`.
  SampleSums(func::FuncOp function, StringAttr samples);

  /// Whether the value is a constant plus a sum over samples.
  bool isSum(Value value) const;

private:
  void visitBlock(Block &block);
  void visit(Operation *op);
  void visitRepeat(RepeatOp repeat);
  bool visitBody(const RepeatVariant &body);
  void visitStackedOutput(RepeatOp repeat, OpResult stack);
  Known inferResult(Operation *op, const dist::ShardingRule &rule, unsigned result) const;
  Known inferFromSlices(Operation *op, const dist::ShardingRule &rule, unsigned result) const;
  Known inferFromSums(Operation *op, const dist::ShardingRule &rule) const;
  Known createPerSample(const dist::ShardingRule &rule, unsigned result) const;
  bool hasKind(Operation *op, Dependence::Kind kind) const;
  Known get(Value value) const { return dependences.lookup(value); }

  StringAttr samples;
  int64_t count = 0; ///< of samples; 0 without inputs
  llvm::DenseMap<Value, Known> dependences;
};
} // namespace

static Dependence sliceAlong(int64_t dim) {
  return {Dependence::Sliced, static_cast<unsigned>(dim)};
}

/// A constant may become a sum; nothing else changes.
static Known join(Known a, Known b) {
  if (a == b)
    return a;
  auto mayBeSum = [](Known known) {
    return known &&
           (known->kind == Dependence::Invariant || known->kind == Dependence::Accumulated);
  };
  return mayBeSum(a) && mayBeSum(b) ? Known(Dependence{Dependence::Accumulated}) : std::nullopt;
}

/// Whether the rule makes results depend on the index along this dimension of a result.
static bool isPositionalAlong(const dist::ShardingRule &rule, unsigned result, unsigned dim) {
  return llvm::any_of(rule.factors, [&](const dist::Factor &factor) {
    return factor.isPositional && factor.resultDims[result] == static_cast<int>(dim);
  });
}

bool SampleSums::hasKind(Operation *op, Dependence::Kind kind) const {
  return llvm::any_of(op->getOperands(), [&](Value value) { return get(value)->kind == kind; });
}

/// The dependence of a result of an operation without sliced operands.
Known SampleSums::createPerSample(const dist::ShardingRule &rule, unsigned result) const {
  for (const dist::Factor &factor : rule.factors)
    if (const int at = factor.resultDims[result]; at >= 0 && factor.name == samples.getValue())
      return factor.isPositional ? Known() : sliceAlong(at);
  return Dependence{};
}

Known SampleSums::inferFromSlices(Operation *op, const dist::ShardingRule &rule,
                                  unsigned result) const {
  const auto results = inferResults(op, [&](Value value) { return *get(value); });
  if (!results)
    return std::nullopt;
  const Dependence inferred = (*results)[result];
  if (inferred.kind != Dependence::Sliced)
    return inferred;
  const auto type = cast<NamedTensorType>(op->getResult(result).getType());
  const bool hasSlicePerSample = count > 0 && type.getDims()[inferred.dim].getSize() % count == 0;
  return hasSlicePerSample && !isPositionalAlong(rule, result, inferred.dim) ? Known(inferred)
                                                                             : std::nullopt;
}

/// A sum if the operation is jointly linear in some operands, the sums among them, and no other
/// operand is a sum.
Known SampleSums::inferFromSums(Operation *op, const dist::ShardingRule &rule) const {
  auto containsSums = [&](const std::vector<unsigned> &linear) {
    return llvm::all_of(llvm::seq<unsigned>(0, op->getNumOperands()), [&](unsigned i) {
      return llvm::is_contained(linear, i) ||
             get(op->getOperand(i))->kind != Dependence::Accumulated;
    });
  };
  return llvm::any_of(rule.linearSets, containsSums) ? Known(Dependence{Dependence::Accumulated})
                                                     : std::nullopt;
}

Known SampleSums::inferResult(Operation *op, const dist::ShardingRule &rule,
                              unsigned result) const {
  if (hasKind(op, Dependence::Sliced))
    return inferFromSlices(op, rule, result);
  if (hasKind(op, Dependence::Accumulated))
    return inferFromSums(op, rule);
  return createPerSample(rule, result);
}

void SampleSums::visit(Operation *op) {
  if (auto repeat = dyn_cast<RepeatOp>(op))
    return visitRepeat(repeat);
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  // Each batch has its own random numbers.
  if (!ruled || isa<RandomOp>(op) ||
      llvm::any_of(op->getOperands(), [&](Value value) { return !get(value); })) {
    for (Value result : op->getResults())
      dependences[result] = std::nullopt;
    return;
  }
  const dist::ShardingRule rule = ruled.getShardingRule();
  for (OpResult result : op->getResults())
    dependences[result] = inferResult(op, rule, result.getResultNumber());
}

/// Returns whether an iteration argument changed.
bool SampleSums::visitBody(const RepeatVariant &body) {
  RepeatOp repeat = body.getRepeat();
  dependences[body.getIndex()] = Dependence{};
  for (auto [i, argument] : llvm::enumerate(body.getIterArgs()))
    dependences[argument] = get(repeat.getResult(i));
  for (auto [stack, slot, number] : body.getScannedInputs()) {
    Known known = get(stack);
    if (known && known->kind == Dependence::Sliced)
      known = known->dim == 0 ? Known() : sliceAlong(known->dim - 1);
    dependences[slot] = known;
  }
  visitBlock(body.getBlock());
  bool changed = false;
  for (auto [i, yielded] : llvm::enumerate(body.getYieldedIterArgs())) {
    Known &carried = dependences[repeat.getResult(i)];
    const Known joined = join(carried, get(yielded));
    changed |= joined != carried;
    carried = joined;
  }
  return changed;
}

void SampleSums::visitStackedOutput(RepeatOp repeat, OpResult stack) {
  Known joined;
  for (auto [i, yielded] : llvm::enumerate(repeat.getYielded(stack.getResultNumber())))
    joined = i == 0 ? get(yielded) : join(joined, get(yielded));
  if (joined && joined->kind == Dependence::Sliced)
    joined = sliceAlong(joined->dim + 1);
  dependences[stack] = joined;
}

void SampleSums::visitRepeat(RepeatOp repeat) {
  for (auto [i, init] : llvm::enumerate(repeat.getInits()))
    dependences[repeat.getResult(i)] = get(init);
  for (bool changed = true; changed;) {
    changed = false;
    for (const RepeatVariant &body : repeat.getVariants())
      changed |= visitBody(body);
  }
  for (Value stack : repeat.getStackedOutputs())
    visitStackedOutput(repeat, cast<OpResult>(stack));
}

void SampleSums::visitBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    visit(&op);
}

SampleSums::SampleSums(func::FuncOp function, StringAttr samples) : samples(samples) {
  for (BlockArgument argument : function.getArguments()) {
    const auto type = dyn_cast<NamedTensorType>(argument.getType());
    Dependence dependence;
    if (type && function.getArgAttr(argument.getArgNumber(), attr::kInput) &&
        type.hasDim(samples)) {
      const int64_t at = type.findDimIndex(samples);
      count = type.getDims()[at].getSize();
      dependence = sliceAlong(at);
    }
    dependences[argument] = dependence;
  }
  visitBlock(function.getBody().front());
}

bool SampleSums::isSum(Value value) const {
  const Known known = get(value);
  return known && (known->kind == Dependence::Invariant || known->kind == Dependence::Accumulated);
}

namespace {
struct FindSampleSums : titan::ir::impl::TitanFindSampleSumsBase<FindSampleSums> {
  void runOnOperation() override {
    auto evaluation = getOperation().lookupSymbol<func::FuncOp>("eval");
    DataDimsAttr dims = DataDimsAttr::lookup(getOperation());
    if (!evaluation || !dims)
      return;
    const SampleSums sums(evaluation, dims.getSamples());
    Operation *terminator = evaluation.getBody().front().getTerminator();
    if (llvm::all_of(terminator->getOperands(), [&](Value value) { return sums.isSum(value); }))
      getOperation()->setAttr(attr::kSumsOverSamples, UnitAttr::get(&getContext()));
  }
};
} // namespace
