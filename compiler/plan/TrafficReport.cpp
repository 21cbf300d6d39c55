#include "compiler/plan/TrafficReport.h"

#include "compiler/plan/MemoryReport.h"
#include "compiler/plan/PipelineRanks.h"
#include "dialects/titan/IR/Titan.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

using namespace mlir;

namespace titan::plan {
namespace {

/// Reports the traffic of ranks.
class TrafficReporter {
public:
  TrafficReporter(ModuleOp module, const dist::Degrees &degrees)
      : module(module), degrees(degrees) {}

  TrafficReport report(const pipeline::Pipelines &rank) {
    TrafficReport report;
    for (const Execution &execution : findStep(module, rank))
      for (dist::CollectiveUse &use : dist::reportCollectives(execution.function, degrees)) {
        use.times *= execution.times;
        report.uses.push_back(std::move(use));
      }
    for (auto function : module.getOps<func::FuncOp>())
      if (function->hasAttr(dist::kFragmentsAttr) && function.getName().split('.').first == "train")
        addMessages(report, rank.find(function.getName().str()));
    return report;
  }

private:
  /// Adds one use per value that the rank sends to other stages. Receives send nothing.
  void addMessages(TrafficReport &report, const pipeline::RankPlan *plan) {
    if (!plan)
      return;
    std::map<int, int64_t> times; // by allocation
    for (const pipeline::Message &message : plan->messages)
      if (message.isSend)
        ++times[message.allocation];
    auto allocations = module->getAttrOfType<ArrayAttr>(memory::kPersistent);
    std::string axis = dist::PipelineOp::lookup(module).getAxis().str();
    for (auto [number, count] : times) {
      dist::CollectiveUse use;
      use.kind = "send";
      use.axes = {axis};
      use.times = count;
      use.isOverlapped = true;
      use.values.push_back(
          {findSource(number),
           getBytes(cast<ir::AllocationAttr>(allocations[static_cast<size_t>(number)]), degrees)});
      report.uses.push_back(std::move(use));
    }
  }

  /// The source value of an allocation that fragments exchange.
  dist::SourceValue findSource(int number) {
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      Operation *end = function.getBody().front().getTerminator();
      auto results = end->getAttrOfType<ArrayAttr>(memory::kArgumentAllocs);
      for (auto [ref, value] :
           llvm::zip_equal(results.getAsRange<ir::AllocRefAttr>(), end->getOperands()))
        if (ref.getSpace() == ir::MemorySpace::Persistent && ref.getIndex() == number)
          return dist::getSourceValue(value.getLoc());
    }
    return {};
  }

  ModuleOp module;
  const dist::Degrees &degrees;
};

} // namespace

int64_t TrafficReport::getBytesSent() const {
  int64_t bytes = 0;
  for (const dist::CollectiveUse &use : uses)
    bytes += use.times * use.getBytesSent();
  return bytes;
}

int64_t TrafficReport::getBytesSent(const std::vector<std::string> &axes) const {
  int64_t bytes = 0;
  for (const dist::CollectiveUse &use : uses)
    if (llvm::any_of(use.axes, [&](const auto &axis) { return llvm::is_contained(axes, axis); }))
      bytes += use.times * use.getBytesSent();
  return bytes;
}

std::vector<TrafficReport> reportTraffic(ModuleOp module, const dist::Degrees &degrees,
                                         const std::vector<pipeline::Pipelines> &ranks) {
  TrafficReporter reporter(module, degrees);
  std::vector<TrafficReport> reports;
  for (const pipeline::Pipelines &rank : ranks)
    reports.push_back(reporter.report(rank));
  return reports;
}

} // namespace titan::plan
