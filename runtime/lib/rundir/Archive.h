// Archives or removes results that a run no longer uses: old, skipped or superseded checkpoints,
// and the results of a replaced run. Only old checkpoints are deleted; everything else moves to
// OUT/replaced. Rank 0 calls these functions.
#pragma once

#include "manifest/Manifest.h"

#include <cstdint>
#include <string>

namespace titan::rt {

/// Removes partial checkpoints of a run that ended while it saved. Failures are warnings.
void removeUnfinishedCheckpoints(const std::string &runDirectory);

/// Moves weights, checkpoints and metrics of a replaced run to OUT/replaced, so that no run resumes
/// from them by accident. Overwrites those of an earlier replaced run. Returns that folder; empty
/// if there was nothing to keep.
std::string archiveRun(const std::string &runDirectory);

/// Moves a skipped or superseded checkpoint to OUT/replaced/step-N, or step-N.2 and so on, and
/// prints a note.
void archiveCheckpoint(const std::string &runDirectory, int64_t step, const std::string &why);

/// Archives checkpoints of steps after `step`, because the next run would resume from them.
void archiveLaterCheckpoints(const std::string &runDirectory, int64_t step);

/// Removes the checkpoints that need not stay (surplusCheckpoints). A failure is a warning, and the
/// next call tries again.
void pruneCheckpoints(const std::string &runDirectory, const Retention &retention);

} // namespace titan::rt
