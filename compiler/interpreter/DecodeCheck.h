// Compares generation in chunks of positions with @logits.
//
// The programs of generation compute the logits of a chunk of positions from caches of earlier
// ones. Chunk by chunk, they must compute the same logits as @logits for all positions at once.
#pragma once

#include "compiler/interpreter/Session.h"

namespace titan::interpreter {

/// Prints one line per program of generation. Fails if an output deviates by more than `tolerance`
/// (Compare.h) from that of @logits, or if the module has no such program.
mlir::LogicalResult checkDecode(mlir::ModuleOp module, int64_t autoDegree, const Settings &settings,
                                double tolerance, llvm::raw_ostream &stream);

} // namespace titan::interpreter
