// Gathers of parameters, before the loop over microbatches or in it.
//
// Where a gather stands is when it runs: before the loop once a step, in the loop once per
// microbatch.
#pragma once

#include "dialects/titan/IR/Titan.h"

namespace titan::dist {

/// Moves gathers of parameters before the loop that do not depend on the iteration: of parameters
/// that all iterations read whole. Gathers in the block of the loop that are equal serve as well.
/// Returns the number of new gathers.
unsigned hoistInvariantGathers(ir::RepeatOp loop);

/// Moves the gathers of parameters in `loop` before it, those of repeats in the loop as gathers of
/// whole stacks that the repeats scan. Equal gathers become one. Casts before a gather move with
/// it. Returns the number of gathers before the loop that the loop reads now.
unsigned hoistGathers(ir::RepeatOp loop);

/// Moves gathers of parameters that only `loop` reads from before the loop into its body. Returns
/// their number.
unsigned sinkGathers(ir::RepeatOp loop);

} // namespace titan::dist
