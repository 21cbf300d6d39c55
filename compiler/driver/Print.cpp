// `titanc --stop-after=PHASE FILE`.
#include "compiler/driver/Commands.h"
#include "compiler/lowering/Lowering.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

#include <iostream>

namespace titan::driver {

int printCommand(const CommonOptions &options, const PrintOptions &print) {
  if (print.phase != "model") {
    std::cerr << "titanc: there is no phase `" << print.phase << "`; the phases are: model\n";
    return 2;
  }
  Session session(options);
  std::optional<sema::CheckedRun> run = session.check();
  if (!run)
    return session.finish(1);
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module = lowering::lower(*run, session.sources, context);
  if (!module)
    return session.finish(1);
  mlir::OpPrintingFlags flags;
  if (print.locations)
    flags.enableDebugInfo();
  module->print(llvm::outs(), flags);
  llvm::outs() << '\n';
  return session.finish();
}

} // namespace titan::driver
