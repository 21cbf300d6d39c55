// Whether a checkpoint is as it was written. All ranks call these together and find the same.
#pragma once

#include "state/Executor.h"

#include "manifest/Manifest.h"
#include "metrics/StatusFile.h"

#include <string>
#include <vector>

namespace titan::rt {

/// The problem of the first rank that has one, on all ranks; with its number where others have
/// none.
std::string firstProblem(Executor &executor, const std::string &own);

/// Sizes and checksums of a checkpoint's files; each rank reads its share of them.
std::vector<Measured> measureFiles(Executor &executor, const std::string &directory,
                                   const std::vector<Manifest::File> &files);

/// What is wrong with files of a checkpoint; empty if they are as they were written. A file that
/// cannot be read is damaged.
std::string damageOf(Executor &executor, const std::string &directory,
                     const std::vector<Manifest::File> &files);

/// Of DIRECTORY/model.safetensors, which the run has just written.
RunStatus::Weights checksumOfWeights(const std::string &directory);

/// Reads and checks the manifest and all files; `problem` says why they cannot be used.
Manifest examine(Executor &executor, const std::string &directory, std::string &problem);

} // namespace titan::rt
