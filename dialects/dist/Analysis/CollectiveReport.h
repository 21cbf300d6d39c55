// The collectives of a program.
//
// Lists the collectives that the compiler inserted: the source line of each value, the executions
// per step and the bytes per rank. `titanc info` and `--dist-print-collectives` print the list.
#pragma once

#include "dialects/dist/Analysis/SourceValue.h"
#include "dialects/dist/IR/DistOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace titan::dist {

/// One value that a collective moves.
struct CollectiveValue : SourceValue {
  /// Bytes that a rank sends in one execution by the ring algorithms (Thakur, Rabenseifner and
  /// Gropp, IJHPCA 19, 2005, section 4). all_gather and reduce_scatter send (n - 1) / n of the
  /// gathered value, all_reduce twice that, and all_to_all (n - 1) / n of the rank's shard. permute
  /// and send transmit the shard; receive transmits nothing.
  int64_t bytesSent = 0;
};

struct CollectiveUse {
  std::string kind; ///< "all_gather", ...
  std::vector<std::string> axes;
  std::vector<CollectiveValue> values; ///< one or more
  /// Calls per step: one per execution, or, for a stack in flat storage, one per row.
  int64_t times = 1;
  bool isOverlapped = false;    ///< asynchronous
  std::string chunking;         ///< "chunk 1 of 4 of batch", "whole: ..."; empty: not asked for
  int64_t getBytesSent() const; ///< of all values, in one execution
};

/// Bytes that a rank sends in one execution for operand `i` of a collective (CollectiveValue).
int64_t getBytesSent(mlir::Operation *collective, unsigned i, const Degrees &degrees);

/// The calls of the communication library in one execution: one, or one per row of flat storage
/// that is stacked.
int64_t countCalls(mlir::Operation *collective, const Degrees &degrees);

/// The collectives and messages of `function` in program order. Local conversions (local_slice,
/// make_partial) are not listed.
std::vector<CollectiveUse> reportCollectives(mlir::FunctionOpInterface function,
                                             const Degrees &degrees);

/// The local dimension with more axes in `a` than in `b`, types before and after a collective; -1
/// if only flat axes differ.
int64_t getSplitDim(ir::NamedTensorType a, ir::NamedTensorType b);

/// Prints one line per collective, one per value of a coalesced collective, and the sum.
void printCollectives(llvm::raw_ostream &out, const std::vector<CollectiveUse> &uses);

} // namespace titan::dist
