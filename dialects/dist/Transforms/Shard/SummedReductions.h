// Reductions of values that a loop adds up.
#pragma once

#include "dialects/titan/IR/Titan.h"

namespace titan::dist {

/// The reduce-scatters that move behind a loop: of no sum, of sums whose terms no repeat stacks, of
/// all.
enum class SunkScatters { None, Unstacked, All };

/// Moves reductions of values that iteration arguments of `loop` only add up behind the loop, which
/// then adds up partial sums: all-reduces, and those reduce-scatters that `scatters` names. The
/// values may be stacked by a repeat in the loop. Returns the number of sums.
///
/// A partial sum of all-reduces has the size of the sum. One of reduce-scatters has the size of the
/// whole tensor instead of that of a shard.
unsigned sinkReductions(ir::RepeatOp loop, SunkScatters scatters);

} // namespace titan::dist
