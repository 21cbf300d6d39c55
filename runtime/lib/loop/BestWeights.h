// The weights of the best evaluation of a run, by `checkpoint.best`: DIRECTORY/best.safetensors.
#pragma once

#include "metrics/Metrics.h"
#include "settings/Settings.h"
#include "state/Executor.h"

#include <string>
#include <vector>

namespace titan::rt {

/// Its name in the directory of a run.
inline constexpr const char *bestWeightsName = "best.safetensors";

class BestWeights {
public:
  /// A run that continues in the directory begins with the file that is there.
  BestWeights(Executor &executor, const Settings &settings, std::string runDirectory);

  /// Saves the weights of the step if the mean loss of the evaluated sets is less than that of the
  /// file. The file states both: `step`, `eval_loss`. Returns whether it has. Collective.
  bool offer(int64_t step, const std::vector<EvaluationNumbers> &sets);

private:
  bool isBetter(double loss) const;

  Executor &executor;
  bool isEnabled;
  std::string path;
};

} // namespace titan::rt
