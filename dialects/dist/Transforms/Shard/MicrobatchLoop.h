// The loop over the microbatches of a step.
#pragma once

#include "dialects/titan/IR/Titan.h"

namespace titan::dist {

/// Whether `repeat` runs once per microbatch: it scans an input of the program.
bool isMicrobatchLoop(ir::RepeatOp repeat);

} // namespace titan::dist
