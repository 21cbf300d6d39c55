// Moves casts away from collectives.
//
// A collective can run anywhere between its operands and its first use. An adjacent cast, or
// another collective of the same value, leaves it a single position. Moving both apart lets buckets
// form.
#pragma once

#include "mlir/IR/Block.h"

namespace titan::dist {

/// Hoists casts before gathers to their operands. Sinks casts and reductions after a reduction to
/// their first use. Nothing crosses a repeat.
void moveCastsFromCollectives(mlir::Block &block);

/// Moves the same operations back: casts to the gather, to shorten the live range of the narrow
/// copy, and the others to the reduction, so that it shrinks values early.
void moveCastsToCollectives(mlir::Block &block);

} // namespace titan::dist
