// From a checked run, or from IR, to the source of the program.
#include "compiler/driver/Build.h"
#include "compiler/driver/Compile.h"
#include "compiler/driver/ModuleFile.h"
#include "compiler/driver/RunSummary.h"
#include "compiler/emission/EmitCpp.h"
#include "compiler/plan/PipelineRanks.h"
#include "dialects/dist/IR/AutoAxis.h"

namespace titan::driver {

/// If the map names the nodes: warns of an axis that crosses them without need, and checks the
/// memory of a rank.
static void checkNodes(CompilerInstance &instance, const sema::CheckedRun &run,
                       mlir::ModuleOp module, emission::Target target) {
  if (!run.mesh.nodes)
    return;
  const int64_t ranks = run.mesh.nodes->count * run.mesh.nodes->ranksPerNode;
  const dist::Degrees degrees =
      dist::getDegrees(dist::MeshOp::lookup(module), ranks / computeLeastProcesses(run.mesh));
  const std::vector<pipeline::Pipelines> along = plan::planRanks(module, degrees);
  warnOfNodes(run.mesh, degrees, plan::reportTraffic(module, degrees, along), instance.diags);
  const bool isCuda = target == emission::Target::Cuda;
  const auto processor = isCuda ? plan::Processor::cuda() : plan::Processor();
  for (const plan::MemoryReport &memory : plan::reportMemory(module, degrees, processor, along))
    checkMemory(run.mesh, memory, /*isOneMemory=*/!isCuda, instance.diags);
}

/// Writes the program in `target`'s language; with `degreeOne`, also for degree 1 of the `auto`
/// axis.
static std::optional<std::string> emit(CompilerInstance &instance, mlir::ModuleOp module,
                                       mlir::ModuleOp degreeOne, emission::Target target) {
  std::string source;
  llvm::raw_string_ostream stream(source);
  DiagnosticScope scope(instance, *module.getContext());
  if (mlir::failed(emission::emitCpp(module, degreeOne, stream, target)))
    return std::nullopt;
  return source;
}

std::optional<std::string> emitSource(CompilerInstance &instance, const sema::CheckedRun &run,
                                      emission::Target target) {
  CompilerContext compiler;
  mlir::OwningOpRef<mlir::ModuleOp> module = compile(instance, run, compiler.context, {});
  if (!module)
    return std::nullopt;
  mlir::OwningOpRef<mlir::ModuleOp> degreeOne;
  if (dist::findAutoAxis(dist::MeshOp::lookup(*module)))
    if (!(degreeOne = compile(instance, run, compiler.context, {}, 1)))
      return std::nullopt;
  checkNodes(instance, run, *module, target);
  if (instance.diags.hasErrors())
    return std::nullopt;
  return emit(instance, *module, degreeOne.get(), target);
}

/// A copy with degree 1 of the `auto` axis. Null without such an axis, and after the shard phase,
/// whose collectives no longer depend on the degree.
static mlir::OwningOpRef<mlir::ModuleOp> copyForDegreeOne(mlir::ModuleOp module) {
  if (pipelines::hasRun(module, "shard") || !dist::findAutoAxis(dist::MeshOp::lookup(module)))
    return {};
  mlir::OwningOpRef<mlir::ModuleOp> copy(module.clone());
  dist::fixAutoDegree(dist::MeshOp::lookup(*copy), 1);
  return copy;
}

std::optional<std::string> emitSourceOfModule(CompilerInstance &instance, emission::Target target) {
  CompilerContext compiler;
  mlir::OwningOpRef<mlir::ModuleOp> module = parseModuleFile(instance, compiler.context);
  if (!module)
    return std::nullopt;
  mlir::OwningOpRef<mlir::ModuleOp> degreeOne = copyForDegreeOne(*module);
  DiagnosticScope scope(instance, compiler.context);
  for (mlir::OwningOpRef<mlir::ModuleOp> *each : {&module, &degreeOne})
    if (*each)
      if (!(*each = runPhases(instance, std::move(*each), {}, Insertions::Run, {}, scope)))
        return std::nullopt;
  return emit(instance, *module, degreeOne.get(), target);
}

} // namespace titan::driver
