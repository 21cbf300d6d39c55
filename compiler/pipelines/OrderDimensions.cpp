// The pass --titan-order-dimensions: which of several dimensions an axis shards, by what a rank
// sends. A closed form would have to know each rule of propagation, and compilation to the shard
// phase takes milliseconds.

#include "compiler/pipelines/DimensionOrders.h"
#include "compiler/pipelines/RunPhase.h"
#include "dialects/dist/Analysis/CollectiveReport.h"
#include "dialects/dist/IR/DimensionOrder.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/titan/Support/PassReport.h"
#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Support/RunSettings.h"
#include "dialects/titan/Transforms/Gradient/Passes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

#include <limits>

namespace titan::pipelines {
#define GEN_PASS_DEF_TITANORDERDIMENSIONS
#include "compiler/pipelines/Passes.h.inc"
} // namespace titan::pipelines

using namespace mlir;
using namespace titan;

/// The executions of a program or fragment in a step.
static double countExecutions(func::FuncOp function, dist::PipelineOp pipeline) {
  auto fragment = function->getAttrOfType<dist::FragmentAttr>(dist::kFragmentAttr);
  if (!fragment)
    return 1;
  switch (fragment.getKind()) {
  case dist::FragmentKind::Forward:
  case dist::FragmentKind::Backward:
  case dist::FragmentKind::Wgrad:
    return static_cast<double>(pipeline.getMicrobatches());
  default:
    return 1;
  }
}

/// The bytes that the ranks of all stages send in collectives of a step, after the shard phase.
static double countBytes(ModuleOp module) {
  // Collectives of an `auto` axis count, too: with any degree above 1.
  const dist::Degrees degrees = dist::getDegrees(dist::MeshOp::lookup(module), /*autoDegree=*/2);
  double bytes = 0;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && function.getName().split('.').first == "train")
      for (const dist::CollectiveUse &use : dist::reportCollectives(function, degrees))
        bytes += static_cast<double>(use.getBytesSent() * use.times) *
                 countExecutions(function, dist::PipelineOp::lookup(module));
  return bytes;
}

/// "1.2 GB".
static std::string printBytes(double bytes) {
  for (auto [unit, size] : {std::pair("GB", 1e9), {"MB", 1e6}, {"kB", 1e3}})
    if (bytes >= size)
      return llvm::formatv("{0:F1} {1}", bytes / size, unit).str();
  return llvm::formatv("{0:F0} bytes", bytes).str();
}

namespace {

/// A list of dimensions, and what it costs.
struct PricedOrder {
  SmallVector<Attribute> list;
  double bytes;
};

struct OrderDimensions : pipelines::impl::TitanOrderDimensionsBase<OrderDimensions> {
  void runOnOperation() override {
    FailureOr<dist::MeshView> mesh = dist::MeshView::get(getOperation());
    if (failed(mesh))
      return signalPassFailure();
    SmallVector<std::pair<dist::AxisRulesOp, pipelines::CompetingDims>> choices;
    for (size_t axis = 0; axis < mesh->getNumAxes(); ++axis)
      if (dist::AxisRulesOp rules = mesh->getRules(axis); rules && mesh->getAxes()[axis].degree > 1)
        for (const pipelines::CompetingDims &group :
             pipelines::findCompetingDims(getOperation(), *mesh, axis))
          choices.push_back({rules, group});
    // A choice depends on those after it.
    constexpr int kMostSweeps = 3;
    for (int sweep = 0, changed = 1; changed && sweep < kMostSweeps; ++sweep) {
      changed = 0;
      for (auto &[rules, group] : choices)
        changed += choose(rules, group);
      TITAN_COUNT(orderedAxes, changed);
      if (choices.size() == 1)
        break;
    }
  }

private:
  /// Sets the order of a group of dimensions. Returns whether it changed.
  bool choose(dist::AxisRulesOp rules, const pipelines::CompetingDims &group) {
    const SmallVector<Attribute> before(rules.getShards().getValue());
    SmallVector<PricedOrder> orders;
    for (SmallVector<Attribute> &list : pipelines::listOrders(before, group)) {
      rules.setShardsAttr(ArrayAttr::get(&getContext(), list));
      orders.push_back({std::move(list), price()});
    }
    llvm::stable_sort(orders, [](auto &a, auto &b) { return a.bytes < b.bytes; });
    const SmallVector<Attribute> &best = orders[0].list;
    rules.setShardsAttr(ArrayAttr::get(&getContext(), best));
    rules->setAttr(dist::kOrderAttr, StringAttr::get(&getContext(), explain(orders, group)));
    return best != before;
  }

  /// What a rank sends with the present axis rules; infinite if the program cannot be compiled.
  double price() {
    OwningOpRef<ModuleOp> copy = getOperation().clone();
    const RunSettings settings(*copy);
    PassManager manager(&getContext());
    ir::buildGradientPhase(manager, settings);
    dist::buildShardPhase(manager, settings);
    ScopedDiagnosticHandler silent(&getContext(), [](Diagnostic &) { return success(); });
    return succeeded(manager.run(*copy)) ? countBytes(*copy)
                                         : std::numeric_limits<double>::infinity();
  }

  /// "batch, ffn: a rank sends 56.2 GB a step; with ffn, batch 1219.3 GB".
  static std::string explain(ArrayRef<PricedOrder> orders, const pipelines::CompetingDims &group) {
    auto print = [&](const PricedOrder &order) {
      std::string names;
      for (size_t at : group)
        names += (names.empty() ? "" : ", ") + cast<StringAttr>(order.list[at]).str();
      return names;
    };
    return print(orders[0]) + ": a rank sends " + printBytes(orders[0].bytes) + " a step; with " +
           print(orders[1]) + " " + printBytes(orders[1].bytes);
  }
};

} // namespace
