// The pass --titan-balance-stages: distributes layers over stages by their costs.

#include "base/schedule/Balance.h"
#include "base/schedule/Memory.h"
#include "base/schedule/Source.h"
#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/Cost/Cost.h"
#include "dialects/titan/Support/PassReport.h"
#include "dialects/titan/Support/ReadValues.h"
#include "dialects/titan/Transforms/Gradient/Passes.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANBALANCESTAGES
#include "dialects/titan/Transforms/Gradient/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// Counts the floating-point operations of a training step by layer. The backward pass takes twice
/// the operations of the forward pass, since it computes two contractions for each, plus those that
/// it recomputes.
class TimeCounter {
public:
  TimeCounter(func::FuncOp train, dist::PipelineOp pipeline) : train(train), pipeline(pipeline) {
    times.layers.resize(pipeline.getNumLayers());
  }

  /// An operation outside the layers counts with the last layer on which it depends, or before all
  /// layers if it depends on none.
  schedule::LayerTimes run() {
    for (Operation &op : train.getBody().getOps()) {
      auto repeat = dyn_cast<RepeatOp>(op);
      const bool isPipelined = repeat && pipeline.isOver(repeat.getDim().getName());
      if (isPipelined)
        addLayers(repeat);
      else
        *findTime(&op) += countTime(&op);
      const int64_t layer = isPipelined ? numCounted : findLayer(&op);
      for (Value result : op.getResults())
        layerOf[result] = layer;
    }
    return std::move(times);
  }

private:
  /// Adds the layers of `repeat` from its `titan.first_layer` on, or after those of earlier
  /// repeats.
  void addLayers(RepeatOp repeat) {
    SmallVector<double> variantTimes;
    for (const RepeatVariant &body : repeat.getVariants())
      variantTimes.push_back(countTime(body.getRegion()));
    if (auto first = repeat->getAttrOfType<IntegerAttr>(attr::kFirstLayer))
      numCounted = first.getInt();
    for (int64_t i = 0; i < repeat.getDim().getSize(); ++i, ++numCounted)
      // Another number of iterations is an error of --titan-split-stages.
      if (numCounted < static_cast<int64_t>(times.layers.size()))
        times.layers[numCounted] += variantTimes[repeat.getIterations().getVariant(i)];
  }

  /// The number of layers up to the last one on which `op` depends.
  int64_t findLayer(Operation *op) const {
    int64_t layer = 0;
    for (Value read : getReadValues(op))
      layer = std::max(layer, layerOf.lookup(read));
    return layer;
  }

  /// The sum to which an operation outside the layers adds.
  double *findTime(Operation *op) {
    const int64_t layer = findLayer(op);
    if (layer == 0)
      return &times.before;
    return layer < static_cast<int64_t>(times.layers.size()) ? &times.layers[layer - 1]
                                                             : &times.after;
  }

  double countTime(Region &region) {
    double time = 0;
    for (Operation &op : region.getOps())
      time += countTime(&op);
    return time;
  }

  double countTime(Operation *op) {
    if (auto repeat = dyn_cast<RepeatOp>(op)) {
      double time = 0;
      for (const RepeatVariant &body : repeat.getVariants())
        time += static_cast<double>(body.getCount()) * countTime(body.getRegion());
      return time;
    }
    auto cost = dyn_cast<CostOpInterface>(op);
    return cost ? cost.getFlops({}) * (op->hasAttr(attr::kRecompute) ? 4 : 3) : 0;
  }

  func::FuncOp train;
  dist::PipelineOp pipeline;
  schedule::LayerTimes times;
  int64_t numCounted = 0;                 ///< layers up to the end of the last repeat
  llvm::DenseMap<Value, int64_t> layerOf; ///< by `findLayer`
};

/// For each stage, the number of microbatches whose residuals it stores at once.
FailureOr<std::vector<int>> countSlots(dist::PipelineOp pipeline) {
  const int ranks =
      static_cast<int>(dist::MeshOp::lookup(pipeline).getDegree(pipeline.getAxisAttr()));
  try {
    const schedule::Schedule schedule = schedule::makeSchedule(
        pipeline.getSchedule(), {ranks, static_cast<int>(pipeline.getNumStages()) / ranks,
                                 static_cast<int>(pipeline.getMicrobatches())});
    return schedule::assignStashSlots(schedule).count;
  } catch (const schedule::ScheduleError &error) {
    return pipeline.emitError(error.what()) << "; " << error.remedy;
  }
}

struct BalanceStages : titan::ir::impl::TitanBalanceStagesBase<BalanceStages> {
  void runOnOperation() override {
    dist::PipelineOp pipeline = dist::PipelineOp::lookup(getOperation());
    auto train = getOperation().lookupSymbol<func::FuncOp>("train");
    if (!pipeline || !pipeline.getByCost() || !train)
      return;
    FailureOr<std::vector<int>> slots = countSlots(pipeline);
    if (failed(slots))
      return signalPassFailure();
    pipeline.setByCost(false);
    pipeline.setLayersPerStage(
        schedule::distributeLayers(TimeCounter(train, pipeline).run(), *slots));
    TITAN_COUNT(balancedStages, pipeline.getNumStages());
  }
};

} // namespace
