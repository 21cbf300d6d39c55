// The number of ranks that a program needs, and the degrees of its `auto` axes for a number of
// ranks. Scripts parse the message for a wrong number of processes, so it is fixed here.
//
// Errors: UserError "needs 4 ranks (shard 2 x tp 2), launched with 1; try: torchrun ...".
#pragma once

#include "titan/runtime/program.h"

#include <span>
#include <string>
#include <vector>

namespace titan::rt {

/// One degree per axis. The first `auto` axis takes the ranks that the fixed degrees leave; further
/// ones are 1. `program` is the user's command, for the suggested command.
std::vector<int64_t> resolveDegrees(std::span<const Axis> mesh, int64_t ranks,
                                    const std::string &program);

} // namespace titan::rt
