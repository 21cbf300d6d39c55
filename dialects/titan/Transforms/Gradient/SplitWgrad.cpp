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

namespace titan::ir {
#define GEN_PASS_DEF_TITANSPLITWGRAD
#include "dialects/titan/Transforms/Gradient/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan::ir;

namespace {

/// The operations of the bodies of a reverse repeat that compute the cotangents of its iteration
/// arguments, and the values that depend on these cotangents.
class DgradSlice {
public:
  explicit DgradSlice(RepeatOp repeat) {
    for (const RepeatVariant &body : repeat.getVariants()) {
      for (Value yielded : body.getYieldedIterArgs())
        addProducers(yielded, body.getBlock());
      cotangents.insert(body.getIterArgs().begin(), body.getIterArgs().end());
      for (Operation &op : body.getBlock().without_terminator())
        if (llvm::any_of(getReadValues(&op), [&](Value read) { return cotangents.contains(read); }))
          cotangents.insert(op.result_begin(), op.result_end());
    }
  }

  /// Whether the repeat over weight gradients scans `value`: the other repeat computes it anyway,
  /// and it is no cheap function of residuals.
  bool isScanned(Value value) const {
    Operation *op = value.getDefiningOp();
    return op && producers.contains(op) && (cotangents.contains(value) || !isCheapToRepeat(op));
  }

private:
  static bool isCheapToRepeat(Operation *op) {
    return op->hasTrait<Elementwise>() || op->hasTrait<Rematerialisable>() || op->hasTrait<View>();
  }

  void addProducers(Value value, Block &body) {
    Operation *op = value.getDefiningOp();
    if (op && op->getBlock() == &body && producers.insert(op).second)
      for (Value read : getReadValues(op))
        addProducers(read, body);
  }

  llvm::DenseSet<Operation *> producers;
  llvm::DenseSet<Value> cotangents;
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

/// Divides a reverse repeat of a stage. A repeat without weight gradients stays whole.
LogicalResult split(RepeatOp repeat) {
  Attribute stage = repeat->getAttr(attr::kStage);
  SmallVector<unsigned> moved;
  for (Value stack : repeat.getStackedOutputs())
    if (isGradient(stack))
      moved.push_back(cast<OpResult>(stack).getResultNumber());
  if (moved.empty() || repeat.getNumIterArgs() == 0)
    return success();
  DgradSlice dgrad(repeat);
  FailureOr<RepeatOp> second = distributeRepeat(
      repeat, moved, [&](Value value) { return dgrad.isScanned(value); },
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
