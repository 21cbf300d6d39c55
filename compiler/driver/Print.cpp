// `titanc --stop-after=PHASE FILE` and `titanc --dump-phases=DIR FILE`.
#include "compiler/driver/Commands.h"
#include "compiler/driver/Compile.h"

#include "llvm/Support/raw_ostream.h"

#include <iostream>

namespace titan::driver {

/// The last phase to run. A pipeline instead of the phases may end anywhere: what is printed is not
/// verified as a program to emit.
static std::string getLastPhase(const CommonOptions &options, const PrintOptions &print) {
  const bool isReplaced = print.phase.empty() && !options.pipeline.empty();
  return isReplaced ? pipelines::getPhases().front().name.str() : print.phase;
}

int printCommand(const CommonOptions &options, const PrintOptions &print) {
  if (!print.phase.empty() && !pipelines::findPhase(print.phase)) {
    std::cerr << "titanc: there is no phase `" << print.phase << "`; the phases are:";
    for (const pipelines::Phase &phase : pipelines::getPhases())
      std::cerr << ' ' << phase.name.str();
    std::cerr << '\n';
    return 2;
  }
  CompilerInstance instance(options);
  std::optional<sema::CheckedRun> run = instance.check();
  if (!run)
    return instance.finish(1);
  CompilerContext compiler;
  mlir::OwningOpRef<mlir::ModuleOp> module = compile(
      instance, *run, compiler.context, {getLastPhase(options, print), print.dumpDirectory});
  if (!module)
    return instance.finish(1);
  if (print.phase.empty() && options.pipeline.empty())
    return instance.finish();
  mlir::OpPrintingFlags flags;
  if (print.locations)
    flags.enableDebugInfo();
  module->print(llvm::outs(), flags);
  llvm::outs() << '\n';
  return instance.finish();
}

} // namespace titan::driver
