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

std::optional<RunSummary> makeRunSummary(CompilerInstance &instance, const sema::CheckedRun &run,
                                         int64_t processes, int64_t threads) {
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
  int64_t cores = std::thread::hardware_concurrency();
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  summary.processor = {threads ? threads : std::max<int64_t>(1, cores / summary.ranks),
                       features.lookup("amx-bf16"), // tiles, then vectors
                       features.lookup("avx2") && features.lookup("fma")};
  summary.memory = plan::reportMemory(*module, degrees, summary.processor);
  for (auto function : module->getOps<mlir::func::FuncOp>())
    if (auto program = function->getAttrOfType<mlir::StringAttr>(ir::attr::kProgram);
        program && program == "train") {
      summary.collectives = dist::reportCollectives(function, degrees);
      summary.attention = plan::reportAttentionBalance(function, degrees);
      summary.lines = plan::reportLines(function, degrees);
    }
  return summary;
}

} // namespace titan::driver
