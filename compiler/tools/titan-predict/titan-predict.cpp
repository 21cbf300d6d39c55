// titan-predict: the time of training steps on a machine, without compilation. A script can compare
// many machines, or fit one to measured steps (bench/prediction).

#include "base/Error.h"
#include "base/machine/MachineFile.h"
#include "base/prediction/StepProgramJson.h"
#include "base/prediction/StepTime.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <fstream>
#include <iostream>
#include <sstream>

using namespace titan;

static std::string readFile(const std::string &path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || !text)
    throw UserError("cannot read `" + path + "`");
  return text.str();
}

static Machine loadMachine(const std::string &path) {
  const std::string text = readFile(path);
  MachineFile read = readMachine(text);
  if (read.machine)
    return std::move(*read.machine);
  const auto end = text.begin() + static_cast<ptrdiff_t>(read.mistake.location.offset);
  throw UserError(path + ":" + std::to_string(1 + std::count(text.begin(), end, '\n')) + ": " +
                  read.mistake.message);
}

static nlohmann::ordered_json predict(const StepProgram &step, const Machine &machine) {
  const StepTime time = predictStep(step, machine);
  const Utilisation utilisation = getUtilisation(step, time.seconds, machine);
  return {{"step_seconds", time.seconds}, {"tokens_per_second", time.getTokensPerSecond(step)},
          {"mfu", utilisation.model},     {"hfu", utilisation.hardware},
          {"products", time.products},    {"attention", time.attention},
          {"other_kernels", time.loops},  {"exposed", time.exposed},
          {"bubble", time.bubble}};
}

int main(int argc, char **argv) {
  CLI::App app("Predicts the time of training steps that `titanc info --step-program` described.");
  std::vector<std::string> machines, steps;
  app.add_option("--machine", machines, "a machine (repeatable)")
      ->type_name("FILE.toml")
      ->required()
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("FILE", steps, "descriptions of steps")->required()->type_name("");
  CLI11_PARSE(app, argc, argv);
  try {
    std::vector<StepProgram> programs;
    for (const std::string &file : steps)
      programs.push_back(readStepProgram(readFile(file)));
    for (const std::string &path : machines) {
      const Machine machine = loadMachine(path);
      for (size_t i = 0; i < steps.size(); ++i) {
        nlohmann::ordered_json line = predict(programs[i], machine);
        line["machine"] = path;
        line["step"] = steps[i];
        std::cout << line.dump() << '\n';
      }
    }
  } catch (const std::exception &error) {
    std::cerr << "titan-predict: error: " << error.what() << '\n';
    return ExitUserError;
  }
  return ExitSuccess;
}
