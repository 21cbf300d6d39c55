// Checkpoints of a run: what the manifest says (checkpoint.h) and the tensors, written and read by
// all ranks together. Any number of ranks can go on from one.
#pragma once

#include "Session.h"

#include "titan/runtime/checkpoint.h"

#include <optional>
#include <string>

namespace titan::rt {

/// Saves parameters and optimizer state as OUT/checkpoints/step-N, then removes those of later
/// steps, and all but the latest `keep` (0: none) of those whose losses are finite and of the
/// others. `position` says where the run stands.
void saveCheckpoint(Session &session, const std::string &runDirectory, Manifest position,
                    int64_t keep);

/// Loads what to go on from. `choice` is a checkpoint's directory; auto, for the latest of the run
/// that is not damaged and whose loss is finite, if there is one; or none. Says on the console
/// which it is, and which were passed over. A damaged checkpoint that was asked for is refused with
/// the file's name.
std::optional<Manifest> resumeFrom(Session &session, const std::string &runDirectory,
                                   const std::string &choice);

/// Moves the weights and checkpoints of a run that another one replaces out of its way, to
/// OUT/replaced, where they take the place of what was moved there before: nothing goes on from
/// them unasked. Gives that folder; empty where there was nothing.
std::string setAside(const std::string &runDirectory);

/// Loads the parameters of a user's file or directory, which may be a run's or a checkpoint's: one
/// that is damaged is refused. Every rank calls it.
void loadWeights(Session &session, const std::string &path);

/// Removes what a run that ended while it saved has left.
void removeUnfinishedCheckpoints(const std::string &runDirectory);

} // namespace titan::rt
