// Loads checkpoints of a run: manifest (manifest/Manifest.h) and tensors; CheckpointWriter.h saves
// them. All ranks call these functions together. A run on any number of ranks can resume from a
// checkpoint.
//
// Errors: UserError with the name of a file that is damaged, does not fit the program or cannot be
// read.
#pragma once

#include "settings/Options.h"
#include "settings/Settings.h"
#include "state/Executor.h"

#include "manifest/Manifest.h"
#include "weights/WeightTable.h"

#include <map>
#include <optional>
#include <string>

namespace titan::rt {

/// Loads the checkpoint to resume from. `choice` is a checkpoint's directory, `none`, or `auto`:
/// the latest undamaged checkpoint with a finite loss, if any. Prints the choice and the skipped
/// checkpoints. Throws UserError for a damaged checkpoint that `choice` names. Returns its
/// manifest, or nothing if the run starts without a checkpoint.
std::optional<Manifest> resumeFrom(Executor &executor, const std::string &runDirectory,
                                   const std::string &choice);

/// The sources from which weights were loaded.
struct LoadedWeights {
  /// The step of the first source that is a checkpoint of the whole program.
  std::optional<int64_t> step;
  std::vector<WeightSource> sources;
  std::vector<WeightRow> rows; ///< of all parameters, and of all tensors of the sources
  std::map<std::string, std::string> types; ///< ReadWeights::types (state/WeightFiles.h)
};

/// Loads parameters from files or directories, possibly of runs or checkpoints, and refuses damaged
/// ones. Sources without the program's tensor names are read by its weight map. Optional parameters
/// without weights get their initial values, by `seed`. Collective.
LoadedWeights loadWeights(Executor &executor, const std::vector<WeightSource> &sources,
                          uint64_t seed);

/// Prints what was loaded and what was not (summarise() of weights/WeightTable.h), on the first
/// rank to standard error. Warns of loaded parameters that are not finite. Collective.
void printSummary(Executor &executor, const LoadedWeights &loaded);

/// Loads the weights of --init-from for a command that does not train (`eval`, `generate`,
/// `export`), and prints their summary. Sets the scalar `step` to the step of the weights, or else
/// to the last step of the run. Collective.
LoadedWeights loadTrainedWeights(Executor &executor, const Options &options,
                                 const Settings &settings);

} // namespace titan::rt
