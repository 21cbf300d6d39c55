// Traces of a previous run in its run directory.
#pragma once

#include <string>

namespace titan::rt {

/// Evidence that the run directory lost its checkpoints: its config.toml enables checkpoints, and
/// metrics.jsonl has rows of later steps. A file system may not be mounted, and a new run would
/// replace the results. Empty without evidence.
std::string lostCheckpoints(const std::string &runDirectory);

} // namespace titan::rt
