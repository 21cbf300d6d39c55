// Reductions of values that a loop adds up.
#pragma once

#include "dialects/titan/IR/Titan.h"

namespace titan::dist {

/// Moves reductions of values that iteration arguments of `loop` only add up behind the loop, which then
/// adds up partial sums: all-reduces, and with `scatters` reduce-scatters, too. The values may be stacked
/// by a repeat in the loop. Returns the number of sums.
///
/// A partial sum of all-reduces has the size of the sum. One of reduce-scatters has the size of the whole
/// tensor instead of that of a shard.
unsigned sinkReductions(ir::RepeatOp loop, bool scatters);

} // namespace titan::dist
