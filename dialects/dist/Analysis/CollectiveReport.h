//===- CollectiveReport.h - What a program sends, and why -------*- C++ -*-===//
//
// Nobody writes a collective, so the compiler lists them: each with the source line of the value
// that it moves, how often it runs in a step and what it costs a rank. `titanc info` and
// `--dist-print-collectives` show this.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_DIST_ANALYSIS_COLLECTIVEREPORT_H
#define TITAN_DIALECTS_DIST_ANALYSIS_COLLECTIVEREPORT_H

#include "dialects/dist/Analysis/SourceValue.h"
#include "dialects/dist/IR/DistOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace titan::dist {

/// One value that a collective moves.
struct CollectiveValue : SourceValue {
  /// Bytes that a rank sends in one execution by the ring algorithms (Thakur, Rabenseifner and
  /// Gropp, IJHPCA 19, 2005, section 4): (n - 1) / n of the whole for all_gather and
  /// reduce_scatter, twice that for all_reduce, (n - 1) / n of its own part for all_to_all.
  int64_t bytesSent = 0;
};

struct CollectiveUse {
  std::string kind; ///< "all_gather", ...
  std::vector<std::string> axes;
  std::vector<CollectiveValue> values; ///< one or more
  int64_t times = 1;         ///< executions in a step: the product of the enclosing repeats' sizes
  bool isOverlapped = false; ///< started before it is waited for
  int64_t getBytesSent() const; ///< of all values, in one execution
};

/// The collectives of `function`, in program order, for given degrees. Slices and make_partial send
/// nothing and are not listed.
std::vector<CollectiveUse> reportCollectives(mlir::FunctionOpInterface function,
                                             const Degrees &degrees);

/// One line a collective, one more for each value where there are several, and the sum.
void printCollectives(llvm::raw_ostream &out, const std::vector<CollectiveUse> &uses);

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_ANALYSIS_COLLECTIVEREPORT_H
