#include "Epochs.h"
#include "TrainStep.h"

#include "settings/SettingText.h"

#include "base/Error.h"
#include "base/text/Counted.h"

#include <cmath>
#include <cstdio>

#include <fmt/format.h>

namespace titan::rt {

DataSettings requireData(const Settings &settings) {
  DataSettings data = getTrainingSettings(settings);
  if (data.path.empty())
    throw UserError("the run has no training data: pass --data FILE");
  return data;
}

Settings countSteps(Executor &executor, const Options &options, Settings settings) {
  const Program &program = executor.program();
  int64_t samples = 0;
  executor.world().runCollectively([&] {
    samples =
        openTrainingData(program, TrainStep(executor).inputs(), requireData(settings), 0).samples();
  });
  const double steps = std::ceil(options.epochs * static_cast<double>(samples) /
                                 static_cast<double>(program.samples));
  settings.set(readPair(fmt::format("steps={:.0f}", steps), "--epochs"));
  settings.check();
  if (executor.isFirst())
    std::fprintf(stderr, "%s\n",
                 fmt::format("{:g} epochs of {} are {:.0f} steps", options.epochs,
                             counted(samples, "sample"), steps)
                     .c_str());
  return settings;
}

} // namespace titan::rt
