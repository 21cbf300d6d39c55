#include "BestWeights.h"

#include "state/TensorFiles.h"

#include "base/Error.h"
#include "base/files/Safetensors.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

namespace titan::rt {

namespace fs = std::filesystem;

static constexpr const char *lossKey = "eval_loss";

BestWeights::BestWeights(Executor &executor, const Settings &settings, std::string runDirectory)
    : executor(executor), isEnabled(settings.text("checkpoint.best", "none") == "loss"),
      path((fs::path(std::move(runDirectory)) / bestWeightsName).string()) {}

/// A file that states no loss, or cannot be read, is replaced.
bool BestWeights::isBetter(double loss) const {
  double best = std::numeric_limits<double>::infinity();
  std::error_code missing;
  if (fs::exists(path, missing))
    try {
      const SafetensorsFile file(path);
      if (const auto found = file.metadata().find(lossKey); found != file.metadata().end())
        best = std::strtod(found->second.c_str(), nullptr);
    } catch (const UserError &) {
    }
  return loss < best; // no loss that is not a number
}

bool BestWeights::offer(int64_t step, const std::vector<EvaluationNumbers> &sets) {
  if (!isEnabled || sets.empty())
    return false;
  double loss = 0;
  for (const EvaluationNumbers &set : sets)
    loss += set.loss / static_cast<double>(sets.size());
  int64_t isNewBest = executor.isFirst() && isBetter(loss);
  if (executor.world().size() > 1)
    executor.world().worldGroup().broadcast(&isNewBest, 1, DType::I64, 0,
                                            {"comparing evaluations", ""});
  if (!isNewBest)
    return false;
  constexpr Role roles[] = {Role::Parameter};
  saveTensors(executor, path, roles,
              {{"format", "pt"},
               {"step", fmt::format("{}", step)},
               {lossKey, fmt::format("{:.17g}", loss)}});
  return true;
}

} // namespace titan::rt
