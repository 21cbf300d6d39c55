// Verification of checkpoints. Collective functions with the same result on all ranks.
#pragma once

#include "state/Executor.h"

#include "manifest/Manifest.h"
#include "metrics/StatusFile.h"

#include <string>
#include <vector>

namespace titan::rt {

/// The problem of the first rank that has one, on all ranks; with its rank if other ranks have
/// none.
std::string firstProblem(Executor &executor, const std::string &own);

/// Sizes and checksums of a checkpoint's files; each rank reads some of them.
std::vector<Measured> measureFiles(Executor &executor, const std::string &directory,
                                   const std::vector<Manifest::File> &files);

/// The damage of a checkpoint's files; empty if there is none. An unreadable file counts as
/// damaged.
std::string findDamage(Executor &executor, const std::string &directory,
                       const std::vector<Manifest::File> &files);

/// Size and checksum of DIRECTORY/model.safetensors, which the run has just written.
RunStatus::Weights computeWeightsChecksum(const std::string &directory);

/// Reads the manifest and verifies all files; `problem` explains why they cannot be used.
Manifest examine(Executor &executor, const std::string &directory, std::string &problem);

} // namespace titan::rt
