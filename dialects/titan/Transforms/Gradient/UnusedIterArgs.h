// Iteration arguments without effect.
//
// The logits need no loss, and a turn needs no loss of others. A repeat of a model may pass one
// from iteration to iteration.
#pragma once

#include "dialects/titan/IR/Titan.h"

namespace titan::ir {

/// Removes the iteration arguments of the repeats in `region` on which nothing but themselves
/// depends, and all dead operations.
void dropUnusedIterArgs(mlir::Region &region);

} // namespace titan::ir
