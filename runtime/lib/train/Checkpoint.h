// Checkpoints: parameters, optimizer state and the step after which they hold, in
// OUT/checkpoints/step-N/state.safetensors. The data's position and the random numbers follow from
// the step alone, so nothing else is needed; and since files are independent of the mesh, any
// number of ranks can resume. A checkpoint is complete exactly if its file exists (it is renamed
// last).
#pragma once

#include "Session.h"

#include <cstdint>
#include <string>

namespace titan::rt {

/// Every rank calls it.
void saveCheckpoint(Session &session, const std::string &runDirectory, int64_t step);

/// The checkpoint to resume from: `choice` is auto (the latest of the run, if there is one), none,
/// or a checkpoint's directory. Empty if there is none.
std::string findCheckpoint(const std::string &runDirectory, const std::string &choice);

/// Loads it and returns its step.
int64_t loadCheckpoint(Session &session, const std::string &checkpoint);

} // namespace titan::rt
