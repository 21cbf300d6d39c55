#include "compiler/driver/RunSummary.h"
#include "compiler/driver/Compile.h"
#include "compiler/driver/Processes.h"
#include "dialects/dist/Analysis/DividedDims.h"
#include "dialects/dist/IR/AutoAxis.h"
#include "dialects/titan/IR/AttributeNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/TargetParser/Host.h"

#include <thread>

namespace titan::driver {

/// The functions of a training step: @train, or its fragments on all stages.
static std::vector<plan::Execution> findStep(mlir::ModuleOp module) {
  std::vector<plan::Execution> step;
  dist::PipelineOp pipeline = dist::PipelineOp::lookup(module);
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    auto program = function->getAttrOfType<mlir::StringAttr>(ir::attr::kProgram);
    if (!program || program.getValue().split('.').first != "train")
      continue;
    auto fragment = function->getAttrOfType<dist::FragmentAttr>(dist::kFragmentAttr);
    step.push_back({function, fragment && dist::runsPerMicrobatch(fragment.getKind())
                                  ? static_cast<int64_t>(pipeline.getMicrobatches())
                                  : 1});
  }
  return step;
}

std::vector<dist::CollectiveUse> reportStepCollectives(mlir::ModuleOp module,
                                                       const dist::Degrees &degrees) {
  std::vector<dist::CollectiveUse> collectives;
  for (const plan::Execution &execution : findStep(module))
    for (dist::CollectiveUse &use : dist::reportCollectives(execution.function, degrees)) {
      use.times *= execution.times;
      collectives.push_back(std::move(use));
    }
  return collectives;
}

/// The methods of attention that the shard phase chose.
static void addChosenAttention(mlir::ModuleOp module, std::vector<AxisReport> &mesh) {
  for (auto rules : module.getOps<dist::AxisRulesOp>())
    if (auto times = rules->getAttrOfType<mlir::StringAttr>(dist::kAttentionTimesAttr))
      for (AxisReport &axis : mesh)
        if (axis.name == rules.getAxis()) {
          axis.attention = dist::stringifyAttentionMethod(rules.getAttention()).str();
          axis.attentionTimes = times.str();
        }
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
  std::vector<plan::MemoryReport> memory = plan::reportMemory(*module, degrees, summary.processor);
  summary.memory = *llvm::max_element(
      memory, [](const auto &a, const auto &b) { return a.getTraining() < b.getTraining(); });
  if (memory.size() > 1)
    summary.memoryOfStages = std::move(memory);
  checkMemory(run.mesh, summary.memory, /*isOneMemory=*/false, instance.diags);
  summary.pipeline = plan::reportPipeline(*module, degrees);
  std::vector<plan::Execution> step = findStep(*module);
  for (const plan::Execution &execution : step)
    llvm::append_range(summary.attention,
                       plan::reportAttentionBalance(execution.function, degrees));
  summary.collectives = reportStepCollectives(*module, degrees);
  summary.mesh = reportMesh(run.mesh, degrees, summary.collectives);
  addChosenAttention(*module, summary.mesh);
  warnOfNodes(run.mesh, degrees, summary.collectives, instance.diags);
  summary.lines = plan::reportLines(step, degrees);
  return summary;
}

} // namespace titan::driver
