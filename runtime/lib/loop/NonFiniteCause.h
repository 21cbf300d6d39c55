// Names the operations that first made an infinity or a not-a-number in a step (`check_numbers`),
// by running the step again from the state before it.
#pragma once

#include "TrainStep.h"
#include "settings/Options.h"
#include "state/Executor.h"

#include <functional>
#include <string>

namespace titan::rt {

/// Runs `step`, a training step, on the state before it and on `batch`. Returns a text for
/// messages: the operations with their source lines, ranks and iterations, and parameters or inputs
/// that had such numbers before. Collective, with the same result on all ranks.
std::string findNonFiniteCause(Executor &executor, const TrainStep &trainStep, const Batch &batch,
                               const std::function<void()> &step);

/// The command that builds the program of a run with `check_numbers = true` and continues the run:
/// for messages.
std::string describeSearch(Executor &executor, const Options &options,
                           const std::string &directory);

} // namespace titan::rt
