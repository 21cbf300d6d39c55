// The pass --titan-split-wgrad: divides reverse repeats of a stage into data gradients and weight
// gradients.

#include "base/schedule/Source.h"
#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/Support/PassReport.h"
#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Support/ReadValues.h"
#include "dialects/titan/Transforms/Gradient/CleanUp.h"
#include "dialects/titan/Transforms/Gradient/LoopDistribution.h"
#include "dialects/titan/Transforms/Gradient/Passes.h"
#include "dialects/titan/Transforms/Gradient/ValueCut.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANSPLITWGRAD
#include "dialects/titan/Transforms/Gradient/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan::ir;

namespace {

/// What the repeat over weight gradients scans: values of least total size that suffice, of those
/// that the other repeat computes anyway. What neither elementwise operations nor views compute is
/// not computed twice.
class ScannedByWgrads {
public:
  ScannedByWgrads(RepeatOp repeat, ArrayRef<unsigned> moved) {
    for (const RepeatVariant &body : repeat.getVariants())
      addBody(body, moved);
  }

  bool contains(Value value) const { return scanned.contains(value); }

private:
  void addBody(const RepeatVariant &body, ArrayRef<unsigned> moved) {
    for (Value yielded : body.getYieldedIterArgs())
      addProducers(yielded, body.getBlock());
    for (const auto &scan : body.getScannedInputs())
      if (isa<BlockArgument>(scan.input))
        alwaysInMemory.insert(scan.slot);
    alwaysInMemory.insert(body.getIndex());
    SmallVector<Value> gradients;
    for (const RepeatVariant::StackedOutput &stack : body.getStackedOutputs())
      if (llvm::is_contained(moved, stack.output.getResultNumber()))
        gradients.push_back(stack.value);
    const auto smallest = findSmallestCut(
        gradients, [&](Value value) { return getSources(value, body.getBlock()); },
        [&](Value value) { return getWeight(value, body); });
    for (Value value : smallest)
      if (value.getDefiningOp())
        scanned.insert(value);
  }

  void addProducers(Value value, Block &body) {
    Operation *op = value.getDefiningOp();
    if (op && op->getBlock() == &body && producers.insert(op).second)
      for (Value read : getReadValues(op))
        addProducers(read, body);
  }

  std::optional<SmallVector<Value>> getSources(Value value, Block &body) const {
    if (alwaysInMemory.contains(value))
      return SmallVector<Value>();
    Operation *op = value.getDefiningOp();
    if (!op || (producers.contains(op) && !isCheapToRepeat(op)))
      return std::nullopt;
    SmallVector<Value> sources;
    llvm::copy_if(getReadValues(op), std::back_inserter(sources),
                  [&](Value read) { return read.getParentBlock() == &body; });
    return sources;
  }

  static bool isCheapToRepeat(Operation *op) {
    return op->hasTrait<Elementwise>() || op->hasTrait<Rematerialisable>() || op->hasTrait<View>();
  }

  /// Residuals are slots, which would stay in memory for the second repeat. Iteration arguments
  /// have no slots.
  int64_t getWeight(Value value, const RepeatVariant &body) const {
    Operation *op = value.getDefiningOp();
    const bool mayKeep =
        op ? producers.contains(op) : !llvm::is_contained(body.getIterArgs(), value);
    return mayKeep ? getBytes(value) : kMustNotKeep;
  }

  llvm::DenseSet<Operation *> producers; ///< of cotangents of iteration arguments
  llvm::DenseSet<Value> alwaysInMemory;  ///< slots of parameters, and the index
  llvm::DenseSet<Value> scanned;
};

/// Whether `value` is the gradient of a parameter, up to casts and views: the program only returns
/// it. Operations, perhaps of other stages, read cotangents of other tensors; no schedule orders
/// these operations after a weight gradient.
bool isGradient(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    if (isa<func::ReturnOp>(user))
      return true;
    return (isa<CastOp>(user) || user->hasTrait<View>()) &&
           llvm::all_of(user->getResults(), isGradient);
  });
}

/// Whether a product computes the gradient. Others, such as sums over tokens, take no time that a
/// schedule could use, but more memory than they are worth if they run apart.
bool isOfProduct(RepeatOp repeat, unsigned stack) {
  SmallVector<Value> pending = repeat.getYielded(stack);
  llvm::DenseSet<Operation *> seen;
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || !repeat->isAncestor(op) || !seen.insert(op).second)
      continue;
    auto kind = op->getAttrOfType<StringAttr>(attr::kGradKind);
    if (kind && kind.getValue() == "wgrad")
      return true;
    if (op->hasTrait<Elementwise>() || op->hasTrait<View>())
      llvm::append_range(pending, op->getOperands());
  }
  return false;
}

/// Divides a reverse repeat of a stage. A repeat without weight gradients stays whole.
LogicalResult split(RepeatOp repeat) {
  Attribute stage = repeat->getAttr(attr::kStage);
  SmallVector<unsigned> moved;
  for (Value stack : repeat.getStackedOutputs())
    if (unsigned number = cast<OpResult>(stack).getResultNumber();
        isGradient(stack) && isOfProduct(repeat, number))
      moved.push_back(number);
  if (moved.empty() || repeat.getNumIterArgs() == 0)
    return success();
  ScannedByWgrads scanned(repeat, moved);
  FailureOr<RepeatOp> second = distributeRepeat(
      repeat, moved, [&](Value value) { return scanned.contains(value); },
      "needs the cotangent of an iteration argument unchanged for the gradient of a parameter, so "
      "its weight gradients cannot be computed apart");
  if (failed(second))
    return failure();
  (*second)->setAttr(attr::kStage, stage);
  (*second)->setAttr(attr::kGradKind, StringAttr::get((*second)->getContext(), "wgrad"));
  return success();
}

struct SplitWgrad : titan::ir::impl::TitanSplitWgradBase<SplitWgrad> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    titan::dist::PipelineOp pipeline = titan::dist::PipelineOp::lookup(function);
    if (!isTrainProgram(function) || !pipeline ||
        !titan::schedule::hasWgrad(pipeline.getSchedule()))
      return;
    SmallVector<RepeatOp> repeats;
    function.walk([&](RepeatOp repeat) {
      if (repeat.getReverse() && repeat->hasAttr(attr::kStage))
        repeats.push_back(repeat);
    });
    for (RepeatOp repeat : repeats) {
      if (failed(split(repeat)))
        return signalPassFailure();
      TITAN_COUNT(dividedRepeats, 1);
    }
    if (!repeats.empty())
      cleanUp(function);
  }
};

} // namespace
