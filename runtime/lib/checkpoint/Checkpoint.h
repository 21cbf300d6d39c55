// Checkpoints of a run: what the manifest says (manifest/Manifest.h) and the tensors, written and
// read by all ranks together. Any number of ranks can go on from one.
#pragma once

#include "state/Executor.h"

#include "manifest/Manifest.h"

#include <optional>
#include <string>

namespace titan::rt {

/// Saves parameters and optimizer state as OUT/checkpoints/step-N. Once that is durable, sets aside
/// the checkpoints of later steps and removes all but the latest `keep` (0: none) of those whose
/// losses are finite, and of the others. `position` says how far the run is.
void saveCheckpoint(Executor &executor, const std::string &runDirectory, Manifest position,
                    int64_t keep);

/// Loads what to go on from. `choice` is a checkpoint's directory; auto, for the latest of the run
/// that is not damaged and whose loss is finite, if there is one; or none. Says on the console
/// which it is, and which were passed over. A damaged checkpoint that was asked for is refused with
/// the file's name.
std::optional<Manifest> resumeFrom(Executor &executor, const std::string &runDirectory,
                                   const std::string &choice);

/// Loads the parameters of a user's file or directory, which may be a run's or a checkpoint's: one
/// that is damaged is refused. Every rank calls it.
void loadWeights(Executor &executor, const std::string &path);

} // namespace titan::rt
