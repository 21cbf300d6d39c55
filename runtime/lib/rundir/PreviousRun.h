// Traces of a previous run in its run directory.
#pragma once

#include <string>

namespace titan::rt {

/// An error text if the run directory seems to have lost its checkpoints: config.toml enables them,
/// and metrics.jsonl has rows of later steps. A file system may not be mounted, and a new run would
/// replace the results. Empty if there is no such evidence.
std::string describeLostCheckpoints(const std::string &runDirectory);

} // namespace titan::rt
