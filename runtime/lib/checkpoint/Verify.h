// Verification of checkpoints. Collective functions with the same result on all ranks.
#pragma once

#include "state/Executor.h"

#include "manifest/Manifest.h"
#include "metrics/StatusFile.h"

#include <string>
#include <vector>

namespace titan::rt {

/// Combines the problems that ranks have found (`own`; empty: none). Returns that of the first rank
/// with a problem, prefixed by "rank R: " unless all ranks have one; empty if no rank has one.
std::string findFirstProblem(Executor &executor, const std::string &own);

/// The indices of those of `count` files that this rank measures.
std::vector<size_t> listMeasured(Executor &executor, size_t count);

/// Combines what each rank has measured of its files (listMeasured).
void gatherMeasurements(Executor &executor, std::vector<Measured> &measured);

/// Sizes and checksums of a checkpoint's files; each rank reads some of them.
std::vector<Measured> measureFiles(Executor &executor, const std::string &directory,
                                   const std::vector<Manifest::File> &files);

/// The damage of a checkpoint's files; empty if there is none. An unreadable file counts as
/// damaged.
std::string findDamage(Executor &executor, const std::string &directory,
                       const std::vector<Manifest::File> &files);

/// Size and checksum of DIRECTORY/model.safetensors, which the run has just written.
RunStatus::Weights computeWeightsChecksum(const std::string &directory);

/// Reads the manifest of a checkpoint and verifies its files. Sets `problem` to the reason why the
/// checkpoint cannot be used, or to an empty text.
Manifest verifyCheckpoint(Executor &executor, const std::string &directory, std::string &problem);

} // namespace titan::rt
