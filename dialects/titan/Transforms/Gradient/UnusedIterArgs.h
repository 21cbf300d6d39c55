// Removes iteration arguments without effect.
//
// A repeat may pass a term of the loss from iteration to iteration. Some programs do not need it:
// the program of logits needs no loss, and a turn (the update for one of several losses) needs only
// its own loss.
#pragma once

#include "dialects/titan/IR/Titan.h"

namespace titan::ir {

/// Removes all dead operations in `region`, and the iteration arguments of its repeats that only
/// their own next values depend on.
void dropUnusedIterArgs(mlir::Region &region);

} // namespace titan::ir
