// What a run leaves behind: checkpoints that are old, were passed over or given up, and the results
// of a run that another one replaces. Only old checkpoints are deleted; everything else moves to
// OUT/replaced. Rank 0 calls these.
#pragma once

#include <cstdint>
#include <string>

namespace titan::rt {

/// Removes what a run that ended while it saved has left. What cannot be removed is a warning.
void removeUnfinishedCheckpoints(const std::string &runDirectory);

/// Moves the weights, checkpoints and metrics of a run that another one replaces to OUT/replaced,
/// where they take the place of those of the run that was replaced before: nothing goes on from
/// them unasked. Gives that folder; empty where there was nothing to keep.
std::string archiveRun(const std::string &runDirectory);

/// Moves a checkpoint to OUT/replaced/step-N, or step-N.2 and so on: it was passed over or given
/// up, and may be wanted again. Says so.
void archiveCheckpoint(const std::string &runDirectory, int64_t step, const std::string &why);

/// Sets aside the checkpoints of later steps than `step`: the next to go on here would take them
/// for its own.
void archiveLaterCheckpoints(const std::string &runDirectory, int64_t step);

/// Removes all but the latest `keep` checkpoints (0: none) of finite losses, and of others. One
/// that cannot be removed is a warning, and is tried again at the next call.
void pruneCheckpoints(const std::string &runDirectory, int64_t keep);

} // namespace titan::rt
