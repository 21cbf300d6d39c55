// How many ranks a program needs, and the degrees of its `auto` axes given how many there are.
// Plain arithmetic; the refusal of a wrong number of processes is worded here, because scripts read
// it.
//
// Errors: UserError "needs 4 ranks (shard 2 x tp 2), launched with 1; try: torchrun ...".
#pragma once

#include "titan/runtime/program.h"

#include <span>
#include <string>
#include <vector>

namespace titan::rt {

/// One degree per axis. The first `auto` axis takes what the fixed degrees leave, further ones
/// are 1. `program` is how the user started the program, for the command that is suggested.
std::vector<int64_t> resolveDegrees(std::span<const Axis> mesh, int64_t ranks,
                                    const std::string &program);

} // namespace titan::rt
