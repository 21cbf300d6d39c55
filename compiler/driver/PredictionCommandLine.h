// The command lines of predictions: options of `titanc info`, `titanc plan`, `titanc calibrate`.
#pragma once

#include "compiler/driver/Commands.h"

namespace CLI {
class App;
}

namespace titan::driver {

/// Adds the options of `titanc info` that predict the step of a run. Requires its option --model.
void addPredictionOptions(CLI::App &info, InfoOptions &options);

/// Adds the commands, without the options of others.
CLI::App *addPlan(CLI::App &app, PlanOptions &options);
CLI::App *addCalibrate(CLI::App &app, CalibrateOptions &options);

} // namespace titan::driver
