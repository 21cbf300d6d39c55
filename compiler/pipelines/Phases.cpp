#include "compiler/pipelines/Phases.h"
#include "base/files/DurableFile.h"
#include "compiler/pipelines/PassRecorder.h"
#include "compiler/pipelines/PhaseSteps.h"
#include "compiler/pipelines/RunPhase.h"
#include "dialects/dist/Transforms/Overlap/Passes.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/titan/IR/AttributeNames.h"
#include "dialects/titan/Transforms/Fusion/Passes.h"
#include "dialects/titan/Transforms/Gradient/Passes.h"
#include "dialects/titan/Transforms/Memory/Passes.h"
#include "dialects/titan/Transforms/Model/Passes.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace titan::pipelines {

/// The order of dimensions comes first: experts are divided along the axes that shard them.
static void buildGradientPhase(OpPassManager &manager, const RunSettings &settings) {
  manager.addPass(createTitanOrderDimensions());
  ir::buildGradientPhase(manager, settings);
}

// Each phase relies on the previous ones: gradients are taken of the global program, before
// sharding, and memory is planned last, when the program is final.
static constexpr Phase kPhases[] = {
    {"model", "the forward pass on global tensors", ir::buildModelPhase},
    {"gradient", "gradients, clipping and the optimizer", buildGradientPhase},
    {"shard", "shardings and collectives", dist::buildShardPhase},
    {"fuse", "fused regions of operations over the same rows", fusion::buildFusePhase},
    {"overlap", "asynchronous collectives", dist::buildOverlapPhase},
    {"memory", "an allocation and a live range for every value", memory::buildMemoryPhase},
};

llvm::ArrayRef<Phase> getPhases() {
  return kPhases;
}

const Phase *findPhase(llvm::StringRef name) {
  for (const Phase &phase : kPhases)
    if (phase.name == name)
      return &phase;
  return nullptr;
}

/// Writes the module to DIR/NN-phase.mlir with locations, so that titan-opt can continue from the
/// dump.
static LogicalResult dump(ModuleOp module, llvm::StringRef directory, size_t number,
                          const Phase &phase) {
  if (directory.empty())
    return success();
  llvm::SmallString<128> path(directory);
  llvm::SmallString<32> file;
  llvm::raw_svector_ostream(file) << llvm::format("%02zu-", number) << phase.name << ".mlir";
  llvm::sys::path::append(path, file);
  if (std::error_code error = llvm::sys::fs::create_directories(directory))
    return module.emitError("cannot make the directory ") << directory << ": " << error.message();
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out, OpPrintingFlags().enableDebugInfo());
  out << '\n';
  try {
    writeFileAtomically(path.str().str(), text);
  } catch (const std::exception &error) {
    return module.emitError(error.what());
  }
  return success();
}

/// Runs one step of a phase. Reports the failing pass to `run`.
static LogicalResult runStep(ModuleOp module, const Phase &phase, const PhaseStep &step,
                             const PhaseRun &run) {
  PassManager manager(module.getContext());
  if (failed(step.build(manager)))
    return failure();
  recordInsertions(module, step.inserted);
  PhaseFailure found{phase.name.str(), "", step.inserted};
  manager.addInstrumentation(makePassRecorder(found.pass));
  if (succeeded(manager.run(module)))
    return success();
  if (run.onFailure)
    run.onFailure(found);
  return failure();
}

/// The pipeline of `--pass-pipeline`, with the verifiers of a program to emit.
static PhaseStep makeReplacement(const PhaseRun &run) {
  return {[&run](OpPassManager &manager) -> LogicalResult {
            FailureOr<OpPassManager> parsed = parsePassPipeline(run.pipeline);
            if (failed(parsed))
              return failure();
            static_cast<OpPassManager &>(manager) = std::move(*parsed);
            if (run.stopAfter.empty())
              addVerifiers(getPhases().back(), manager);
            return success();
          },
          {run.pipeline}};
}

bool hasRun(ModuleOp module, llvm::StringRef phase) {
  auto reached = module->getAttrOfType<StringAttr>(ir::attr::kPhase);
  return reached && findPhase(phase) <= findPhase(reached.getValue());
}

/// Sets `next` to the first phase that has not run. A module that was printed after a phase may
/// have changed since, so that the verifiers of this phase run again.
static LogicalResult findNextPhase(ModuleOp module, const PhaseRun &run, const Phase *&next) {
  next = getPhases().begin();
  auto reached = module->getAttrOfType<StringAttr>(ir::attr::kPhase);
  if (!reached)
    return success();
  const Phase *last = findPhase(reached.getValue());
  if (!last)
    return module.emitError("there is no phase `") << reached.getValue() << "`";
  next = last + 1;
  return runStep(module, *last, {[last](OpPassManager &manager) {
                   addVerifiers(*last, manager);
                   return success();
                 }},
                 run);
}

LogicalResult runPhases(ModuleOp module, const PhaseRun &run) {
  const Phase *next;
  if (failed(findNextPhase(module, run, next)))
    return failure();
  if (!run.pipeline.empty()) {
    if (failed(runStep(module, getPhases().back(), makeReplacement(run), run)))
      return failure();
    if (run.observe)
      run.observe(getPhases().back().name, module);
    return success();
  }
  const RunSettings settings(module);
  for (const Phase &phase : llvm::ArrayRef(next, getPhases().end())) {
    const size_t number = &phase - getPhases().begin();
    for (const PhaseStep &step : makeSteps(phase, settings, run.insertions))
      if (failed(runStep(module, phase, step, run)))
        return failure();
    recordPhase(module, phase);
    if (failed(dump(module, run.dumpDirectory, number, phase)))
      return failure();
    if (run.observe)
      run.observe(phase.name, module);
    if (phase.name == run.stopAfter)
      break;
  }
  return success();
}

void registerPhasePipelines(std::vector<Insertion> &insertions) {
  registerTitanPipelinesPasses();
  for (const Phase &phase : getPhases())
    PassPipelineRegistration<>("titan-phase-" + phase.name.str(), phase.summary,
                               [&phase, &insertions](OpPassManager &manager) {
                                 for (Insertion &insertion : insertions)
                                   insertion.isUsed |= insertion.phase == phase.name;
                                 manager.addPass(createRunPhase(phase.name, insertions));
                               });
}

void printPhases(llvm::raw_ostream &out) {
  for (const Phase &phase : getPhases()) {
    OpPassManager manager(ModuleOp::getOperationName());
    phase.build(manager, RunSettings());
    out << llvm::formatv("{0,-10} {1}\n{2,-10} ", phase.name, phase.summary, "");
    manager.printAsTextualPipeline(out);
    out << '\n';
  }
}

} // namespace titan::pipelines
