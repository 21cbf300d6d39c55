#include "compiler/driver/RunSummary.h"
#include "compiler/driver/Compile.h"
#include "compiler/driver/Processes.h"
#include "compiler/plan/DescribeStep.h"
#include "compiler/plan/PipelineRanks.h"
#include "dialects/dist/Analysis/DividedDims.h"
#include "dialects/dist/IR/AutoAxis.h"
#include "dialects/dist/IR/DimensionOrder.h"
#include "dialects/titan/IR/AttributeNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/TargetParser/Host.h"

#include <thread>

namespace titan::driver {

/// The costs of the source lines on the rank that computes most.
static std::vector<plan::LineCost> reportLines(mlir::ModuleOp module, const dist::Degrees &degrees,
                                               const std::vector<pipeline::Pipelines> &ranks) {
  std::vector<plan::LineCost> most;
  double mostFlops = -1;
  for (const pipeline::Pipelines &rank : ranks) {
    std::vector<plan::LineCost> lines = plan::reportLines(plan::findStep(module, rank), degrees);
    double flops = 0;
    for (const plan::LineCost &line : lines)
      flops += line.flops;
    if (flops <= mostFlops)
      continue;
    mostFlops = flops;
    most = std::move(lines);
  }
  return most;
}

/// The choices of the compiler for the axes: methods of attention, and the order of dimensions.
static void addChoices(mlir::ModuleOp module, std::vector<AxisReport> &mesh) {
  for (auto rules : module.getOps<dist::AxisRulesOp>())
    if (auto order = rules->getAttrOfType<mlir::StringAttr>(dist::kOrderAttr))
      for (AxisReport &axis : mesh)
        if (axis.name == rules.getAxis())
          axis.order = order.str();
  for (auto rules : module.getOps<dist::AxisRulesOp>())
    if (auto times = rules->getAttrOfType<mlir::StringAttr>(dist::kAttentionTimesAttr))
      for (AxisReport &axis : mesh)
        if (axis.name == rules.getAxis()) {
          axis.attention = dist::stringifyAttentionMethod(rules.getAttention()).str();
          axis.attentionTimes = times.str();
        }
}

size_t RunSummary::findBusiestRank() const {
  auto most = llvm::max_element(
      traffic, [](const auto &a, const auto &b) { return a.getBytesSent() < b.getBytesSent(); });
  return static_cast<size_t>(most - traffic.begin());
}

/// A rank copies at most all its parameters, buffers and optimizer state (CheckpointWriter.h).
static int64_t countStaging(const sema::Run &run, const plan::MemoryReport &memory) {
  if (run["checkpoint.mode"].print() != "async" || run["checkpoint.every"].print() == "0")
    return 0;
  return memory.parameters + memory.buffers + memory.optimizer + memory.getOnHost();
}

std::optional<RunSummary> makeRunSummary(CompilerInstance &instance, const sema::CheckedRun &run,
                                         int64_t processes, int64_t threads,
                                         emission::Target target) {
  if (!processes && run.mesh.nodes)
    processes = run.mesh.nodes->count * run.mesh.nodes->ranksPerNode;
  int64_t degree = processes ? autoDegree(instance, run, processes) : 1;
  if (degree == 0)
    return {};
  CompilerContext compiler;
  RunSummary summary;
  pipelines::PhaseRun phases;
  phases.observe = [&](llvm::StringRef phase, mlir::ModuleOp module) {
    if (phase == "gradient")
      summary.sharding = plan::reportSharding(module);
  };
  mlir::OwningOpRef<mlir::ModuleOp> module = compile(instance, run, compiler.context, phases);
  if (!module)
    return {};
  dist::Degrees degrees;
  if (dist::MeshOp mesh = dist::MeshOp::lookup(*module)) {
    degrees = dist::getDegrees(mesh, degree);
    // The executable then runs the code for degree 1 (emission/EmitCpp.h).
    if (degree == 1 && dist::findAutoAxis(mesh))
      if (!(module = compile(instance, run, compiler.context, {}, 1)))
        return {};
    for (auto &axis : degrees)
      summary.ranks *= axis.second;
    DiagnosticScope scope(instance, compiler.context);
    if (failed(dist::checkDividedDims(*module, degrees)))
      return {};
  }
  if (auto flops = (*module)->getAttrOfType<mlir::FloatAttr>(ir::attr::kFlopsPerToken))
    summary.flopsPerToken = flops.getValueAsDouble();
  if (auto flops = (*module)->getAttrOfType<mlir::FloatAttr>(ir::attr::kModelFlopsPerToken))
    summary.modelFlopsPerToken = flops.getValueAsDouble();
  if (auto logits = module->lookupSymbol<mlir::func::FuncOp>("logits"))
    if (auto reason = logits->getAttrOfType<mlir::StringAttr>(ir::attr::kUncached))
      summary.uncached = reason.str();
  int64_t cores = std::thread::hardware_concurrency();
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  summary.processor = {.threads = threads ? threads : std::max<int64_t>(1, cores / summary.ranks),
                       .hasTiles = features.lookup("amx-bf16"),
                       .hasVectors = features.lookup("avx2") && features.lookup("fma")};
  if (target == emission::Target::Cuda)
    summary.processor = plan::Processor::cuda();
  const std::vector<pipeline::Pipelines> along = plan::planRanks(*module, degrees);
  std::vector<plan::MemoryReport> memory =
      plan::reportMemory(*module, degrees, summary.processor, along);
  summary.memory = *llvm::max_element(
      memory, [](const auto &a, const auto &b) { return a.getTraining() < b.getTraining(); });
  summary.checkpointStaging = countStaging(run.run, summary.memory);
  if (memory.size() > 1)
    summary.memoryOfStages = std::move(memory);
  checkMemory(run.mesh, summary.memory, /*isOneMemory=*/false, instance.diags);
  summary.pipeline = plan::reportPipeline(*module, degrees);
  for (const plan::Execution &execution : plan::findStep(*module))
    llvm::append_range(summary.attention,
                       plan::reportAttentionBalance(execution.function, degrees));
  summary.traffic = plan::reportTraffic(*module, degrees, along);
  summary.mesh = reportMesh(run.mesh, degrees, summary.traffic);
  addChoices(*module, summary.mesh);
  warnOfNodes(run.mesh, degrees, summary.traffic, instance.diags);
  summary.lines = reportLines(*module, degrees, along);
  summary.step = plan::describeStep(*module, degrees, along);
  return summary;
}

} // namespace titan::driver
