// Programs of generation.
//
// Copies of @logits for some positions, which read operands at earlier positions from caches
// (docs/rationale/generation.md).
#pragma once

#include "dialects/titan/Transforms/Model/PositionChunks.h"

namespace titan::ir {

/// The positions and texts that one call of a program of generation computes.
struct ChunkShape {
  llvm::StringRef program; ///< its name
  int64_t positions;       ///< consecutive positions of a text
  /// The number of texts, whose dimension replaces that of samples; each has its position. 0: one
  /// text, and the dimension of samples stays.
  int64_t slots = 0;
};

/// A copy of `logits` for a chunk of positions. `chunks` and `samples` are the analyses of `logits`
/// along the dimensions of positions and of samples; `samples` may be null without slots. Returns
/// null if the slots cannot replace the samples, because an operation depends on the number of a
/// sample or cannot start at several positions at once.
mlir::func::FuncOp buildChunkProgram(mlir::func::FuncOp logits, const PositionChunks &chunks,
                                     const PositionChunks *samples, const ChunkShape &shape);

/// @admit: copies the caches of the one text of `decode` into the slot `titan.scalar = "slot"` of
/// the caches of `batch`, a program of the same model with slots.
mlir::func::FuncOp buildAdmitProgram(mlir::func::FuncOp decode, mlir::func::FuncOp batch);

} // namespace titan::ir
