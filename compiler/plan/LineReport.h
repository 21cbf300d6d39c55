// What every source line costs one rank in one training step: arithmetic and memory traffic, from
// the program behind the memory phase, where it is known what is computed together.
#ifndef TITAN_COMPILER_PLAN_LINEREPORT_H
#define TITAN_COMPILER_PLAN_LINEREPORT_H

#include "dialects/dist/IR/DistOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <string>
#include <vector>

namespace titan::plan {

struct LineCost {
  std::string file; ///< empty for what no line stands for, such as the optimizer's update
  unsigned line = 0;
  double flops = 0; ///< executed, forward and backward
  /// Bytes that operations read and write in memory: every operand and every result once for each
  /// execution, however large the caches. What operations computed together hand to each other
  /// moves nothing; nor do views.
  double bytesRead = 0;
  double bytesWritten = 0;
};

/// The lines of `function`, dearest first: by operations, then by bytes.
std::vector<LineCost> reportLines(mlir::FunctionOpInterface function, const dist::Degrees &degrees);

} // namespace titan::plan

#endif
