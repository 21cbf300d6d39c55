//===- CollectiveMotion.h - Room for collectives to meet --------*- C++ -*-===//
//
// A collective can stand anywhere between what it reads and what reads it. Where that is a cast, or
// another collective of the same value, right beside it, there is one place alone, though both
// could move together.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_COLLECTIVEMOTION_H
#define TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_COLLECTIVEMOTION_H

#include "mlir/IR/Block.h"

namespace titan::dist {

/// Moves casts that gathers read to where their operands are made, and what follows a reduction
/// (casts, and reductions over other axes) to its first use; nothing passes a repeat.
void moveCastsFromCollectives(mlir::Block &block);

/// Moves the same operations back: in front of the gather, where a narrow copy lives no longer than
/// it must, and right behind the reduction, so that what follows is reduced early.
void moveCastsToCollectives(mlir::Block &block);

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_COLLECTIVEMOTION_H
