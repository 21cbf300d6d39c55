#include "compiler/driver/PredictionCommandLine.h"

#include "base/cli/Arguments.h"

namespace titan::driver {

void addPredictionOptions(CLI::App &info, InfoOptions &options) {
  info.add_option("--machine", options.machine,
                  "predict whether the run fits this machine, and how fast it is: a name of the "
                  "library (h100), or a file")
      ->type_name("NAME|FILE.toml")
      ->excludes("--model");
  info.add_option("--step-program", options.stepProgram,
                  "write what each rank does in a step, for titan-predict")
      ->type_name("FILE.json")
      ->excludes("--model");
}

CLI::App *addPlan(CLI::App &app, PlanOptions &options) {
  CLI::App *command = app.add_subcommand(
      "plan", "search for the degrees of the map and settings with the least predicted time");
  command->add_option("--machine", options.machine, "a name of the library (h100), or a file")
      ->type_name("NAME|FILE.toml")
      ->required();
  constexpr int64_t maxDevices = int64_t{1} << 30;
  cli::addNumber<int64_t>(*command, "--devices", 1, options.devices,
                          "the number of devices, which is the product of the degrees", maxDevices)
      ->required();
  cli::addPositive(*command, "--memory", options.memory,
                   "GiB of a device; default: those of the machine")
      ->type_name("GIB");
  return command;
}

CLI::App *addCalibrate(CLI::App &app, CalibrateOptions &options) {
  CLI::App *command = app.add_subcommand(
      "calibrate", "measure this machine and write a file for `titanc info --machine`");
  command->add_option("-o", options.output, "the file; - is the standard output")
      ->type_name("FILE.toml")
      ->capture_default_str();
  return command;
}

} // namespace titan::driver
