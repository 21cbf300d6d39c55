// What a rank's arena holds, before anything runs: the same plan that the program makes at start-up
// (compiler/support/ArenaPlanner.h), so the figure is exact. Loaded libraries, the text and
// transport buffers are not in it.
#ifndef TITAN_COMPILER_PLAN_MEMORYREPORT_H
#define TITAN_COMPILER_PLAN_MEMORYREPORT_H

#include "dialects/dist/IR/DistOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace titan::plan {

/// Bytes on one rank. Transient memory is shared by the program's functions, so it counts once.
struct MemoryReport {
  int64_t parameters = 0;
  int64_t gradients = 0;
  int64_t optimizer = 0;
  int64_t other = 0;     ///< inputs, scalars, outputs
  int64_t transient = 0; ///< residuals and everything else that lives within a step

  int64_t total() const { return parameters + gradients + optimizer + other + transient; }
};

/// For a module behind the memory phase, with every `auto` degree given a value.
MemoryReport reportMemory(mlir::ModuleOp module, const dist::Degrees &degrees);

} // namespace titan::plan

#endif
