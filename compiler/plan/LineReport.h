// The cost of each source line on one rank in one training step: arithmetic and memory traffic.
// Computed after the memory phase, when fusion is final.
#pragma once

#include "dialects/dist/IR/DistOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <string>
#include <vector>

namespace titan::plan {

struct LineCost {
  std::string file; ///< empty for operations without a source line, such as the optimizer's update
  unsigned line = 0;
  double flops = 0; ///< executed, forward and backward
  /// Bytes that operations read from and write to memory: every operand and every result once per
  /// execution, regardless of caches. Values within a fused region and views count 0.
  double bytesRead = 0;
  double bytesWritten = 0;
};

/// A function and how often a step runs it.
struct Execution {
  mlir::FunctionOpInterface function;
  int64_t times;
};

/// The lines of all functions by descending operations, then bytes.
std::vector<LineCost> reportLines(const std::vector<Execution> &functions,
                                  const dist::Degrees &degrees);

} // namespace titan::plan
