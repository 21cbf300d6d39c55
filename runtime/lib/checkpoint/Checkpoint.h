// Checkpoints of a run: manifest (manifest/Manifest.h) and tensors. All ranks write and read
// together; any number of ranks can resume.
#pragma once

#include "settings/Options.h"
#include "settings/Settings.h"
#include "state/Executor.h"

#include "manifest/Manifest.h"
#include "weights/WeightTable.h"

#include <optional>
#include <string>

namespace titan::rt {

/// Saves parameters and optimizer state as OUT/checkpoints/step-N. Once durable, archives
/// checkpoints of later steps, and removes all but the latest `keep` (0: all stay) finite ones,
/// likewise for others. `position` describes the run's progress.
void saveCheckpoint(Executor &executor, const std::string &runDirectory, Manifest position,
                    int64_t keep);

/// Loads the checkpoint to resume from. `choice` is a checkpoint's directory, `none`, or `auto`:
/// the latest undamaged checkpoint with a finite loss, if any. Prints which one, and which were
/// skipped. A damaged explicit choice is refused with the file's name.
std::optional<Manifest> resumeFrom(Executor &executor, const std::string &runDirectory,
                                   const std::string &choice);

/// The sources from which weights were loaded.
struct LoadedWeights {
  /// The step of the first source that is a checkpoint of the whole program.
  std::optional<int64_t> step;
  std::vector<WeightSource> sources;
  std::vector<WeightRow> rows; ///< of all parameters, and of all tensors of the sources
};

/// Loads parameters from files or directories, possibly of runs or checkpoints, and refuses damaged
/// ones. Weights without the program's own names are those of other software. Optional parameters
/// without weights get their initial values, by `seed`. Collective.
LoadedWeights loadWeights(Executor &executor, const std::vector<WeightSource> &sources,
                          uint64_t seed);

/// On the first rank, to standard error: summarise() of weights/WeightTable.h.
void printSummary(Executor &executor, const LoadedWeights &loaded);

/// Loads --init-from for a command that trains nothing, prints the notes to standard error, and
/// sets the step: that of the weights, else the last one of the run. Collective.
void loadTrainedWeights(Executor &executor, const Options &options, const Settings &settings);

} // namespace titan::rt
