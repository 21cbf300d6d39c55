// The training loop: read data, run the step, report metrics, until the last step or a signal. It
// owns the run's directory:
//   metrics.jsonl  status.json  config.toml  program.titan  model.safetensors  checkpoints/step-N/
//   weights.tsv (for each parameter the origin of its value, for each tensor of --init-from its
//   use)
#pragma once

#include "settings/Options.h"
#include "settings/Settings.h"
#include "state/Executor.h"

namespace titan::rt {

/// Trains; returns the exit status (0, or 75 if a signal stopped the run after it was saved).
int train(Executor &executor, const Options &options, const Settings &settings);

/// The directory of the run: --out, or runs/ and the run's name.
std::string runDirectory(const Program &program, const Options &options);

} // namespace titan::rt
