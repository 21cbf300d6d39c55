// What a run folder says of the run that wrote to it before.
#pragma once

#include <string>

namespace titan::rt {

/// What tells that the run folder had checkpoints, where it has none now: its config.toml says that
/// they were saved every so many steps, and metrics.jsonl has rows of later steps. They may be on a
/// file system that is not mounted; beginning anew would replace the run's results. Empty where
/// nothing tells it.
std::string lostCheckpoints(const std::string &runDirectory);

} // namespace titan::rt
