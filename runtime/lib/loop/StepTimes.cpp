#include "StepTimes.h"

#include <vector>

namespace titan::rt {

namespace {

/// The stage of each rank.
std::vector<int64_t> listStages(Executor &executor) {
  const std::vector<Pipeline> &pipelines = executor.program().pipelines;
  std::vector<int64_t> stages(static_cast<size_t>(executor.world().size()), 0);
  if (!pipelines.empty())
    for (size_t rank = 0; rank < stages.size(); ++rank)
      stages[rank] = executor.mesh().coordinates(
          static_cast<int>(rank))[static_cast<size_t>(pipelines.front().axis)];
  return stages;
}

} // namespace

StepTimes::StepTimes(Executor &executor) : executor(executor), ranks(listStages(executor)) {}

void StepTimes::beginStep() {
  begin = std::chrono::steady_clock::now();
  waitedAtBegin = executor.waitedSeconds();
}

void StepTimes::endStep() {
  const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - begin;
  busy += whole.count() - (executor.waitedSeconds() - waitedAtBegin);
  ++steps;
}

std::string StepTimes::findSlowRank(int64_t step) {
  if (executor.world().size() == 1 || !executor.device().isHost() || steps == 0)
    return "";
  const double own = busy / static_cast<double>(steps);
  busy = 0;
  steps = 0;
  std::vector<double> all(static_cast<size_t>(executor.world().size()));
  executor.world().worldGroup().allGather(&own, all.data(), 1, DType::F64,
                                          {"comparing the times of steps", ""});
  const std::optional<SlowRanks::Note> note = ranks.add(step, all);
  return note ? describe(*note) : "";
}

} // namespace titan::rt
