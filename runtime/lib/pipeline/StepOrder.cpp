#include "StepOrder.h"

#include "base/Error.h"
#include "base/schedule/Generators.h"

#include <algorithm>

#include <fmt/format.h>

namespace titan::rt {

namespace {

/// The fragment of a compute action. `Backward` fragments compute both gradients, so a schedule's
/// dgrad runs them, and its wgrad runs nothing.
std::optional<FragmentKind> kindOf(schedule::Kind kind) {
  switch (kind) {
  case schedule::Kind::Forward:
    return FragmentKind::Forward;
  case schedule::Kind::Backward:
  case schedule::Kind::Dgrad:
    return FragmentKind::Backward;
  default:
    return std::nullopt;
  }
}

/// The calls of one rank.
class RowOrder {
public:
  RowOrder(const Pipeline &pipeline, const schedule::Schedule &schedule, int rank)
      : pipeline(pipeline), schedule(schedule), rank(rank) {}

  std::vector<FragmentCall> run() {
    appendLevels(FragmentKind::Begin);
    if (pipeline.microbatches > 0)
      for (const schedule::Action &action : schedule.ranks[static_cast<size_t>(rank)])
        if (std::optional<FragmentKind> kind = kindOf(action.kind))
          calls.push_back({find(*kind, action.stage), action.microbatch});
    appendLevels(FragmentKind::Update);
    appendLevels(FragmentKind::Evaluate);
    return std::move(calls);
  }

private:
  void appendLevels(FragmentKind kind) {
    const size_t begin = calls.size();
    for (size_t i = 0; i < pipeline.fragments.size(); ++i)
      if (const Fragment &fragment = pipeline.fragments[i];
          fragment.kind == kind && schedule.rankOfStage(fragment.stage) == rank)
        calls.push_back({static_cast<int>(i), -1});
    std::stable_sort(
        calls.begin() + static_cast<std::ptrdiff_t>(begin), calls.end(),
        [&](const FragmentCall &a, const FragmentCall &b) { return levelOf(a) < levelOf(b); });
  }
  int levelOf(const FragmentCall &call) const {
    return pipeline.fragments[static_cast<size_t>(call.fragment)].level;
  }

  int find(FragmentKind kind, int stage) const {
    for (size_t i = 0; i < pipeline.fragments.size(); ++i)
      if (pipeline.fragments[i].kind == kind && pipeline.fragments[i].stage == stage)
        return static_cast<int>(i);
    throw Fault(
        fmt::format("'{}' has no fragment for an action of stage {}", pipeline.program, stage));
  }

  const Pipeline &pipeline;
  const schedule::Schedule &schedule;
  const int rank;
  std::vector<FragmentCall> calls;
};

} // namespace

schedule::Schedule scheduleOf(const Program &program, const Pipeline &pipeline, int64_t ranks) {
  const schedule::Algorithm *algorithm = schedule::findAlgorithm(pipeline.schedule);
  if (!algorithm)
    throw Fault(fmt::format("the runtime knows no schedule '{}'", pipeline.schedule));
  int64_t microbatches = 1;
  for (const Pipeline &other : program.pipelines)
    microbatches = std::max(microbatches, other.microbatches);
  return schedule::generate(*algorithm,
                            {static_cast<int>(ranks), static_cast<int>(pipeline.stages / ranks),
                             static_cast<int>(microbatches)});
}

StepOrder orderStep(const Pipeline &pipeline, const schedule::Schedule &schedule) {
  StepOrder order;
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank)
    order.push_back(RowOrder(pipeline, schedule, static_cast<int>(rank)).run());
  return order;
}

std::string nameOf(const Pipeline &pipeline, const FragmentCall &call) {
  const Fragment &fragment = pipeline.fragments[static_cast<size_t>(call.fragment)];
  if (call.microbatch < 0)
    return fragment.function;
  const auto kind =
      fragment.kind == FragmentKind::Forward ? schedule::Kind::Forward : schedule::Kind::Backward;
  return schedule::toText({kind, fragment.stage, static_cast<int>(call.microbatch)});
}

} // namespace titan::rt
