#include "base/pipeline/StepOrder.h"

#include "base/Error.h"
#include "base/schedule/Source.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace titan::pipeline {

namespace {

/// The fragments of a compute action, in order. Without `Wgrad` fragments, `Backward` computes both
/// gradients, so that a schedule's wgrad runs nothing.
std::vector<FragmentKind> getFragmentKinds(schedule::Kind kind) {
  switch (kind) {
  case schedule::Kind::Forward:
    return {FragmentKind::Forward};
  case schedule::Kind::Backward:
    return {FragmentKind::Backward, FragmentKind::Wgrad};
  case schedule::Kind::Dgrad:
    return {FragmentKind::Backward};
  case schedule::Kind::Wgrad:
    return {FragmentKind::Wgrad};
  default:
    return {};
  }
}

std::optional<int> findFragment(const Pipeline &pipeline, FragmentKind kind, int stage) {
  for (size_t i = 0; i < pipeline.fragments.size(); ++i)
    if (pipeline.fragments[i].kind == kind && pipeline.fragments[i].stage == stage)
      return static_cast<int>(i);
  return std::nullopt;
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
        append(action);
    appendLevels(FragmentKind::Update);
    appendLevels(FragmentKind::Evaluate);
    return std::move(calls);
  }

private:
  void appendLevels(FragmentKind kind) {
    const size_t begin = calls.size();
    for (size_t i = 0; i < pipeline.fragments.size(); ++i)
      if (const Fragment &fragment = pipeline.fragments[i];
          fragment.kind == kind && schedule.getRankOfStage(fragment.stage) == rank)
        calls.push_back({static_cast<int>(i), -1});
    std::stable_sort(
        calls.begin() + static_cast<std::ptrdiff_t>(begin), calls.end(),
        [&](const FragmentCall &a, const FragmentCall &b) { return getLevel(a) < getLevel(b); });
  }
  int getLevel(const FragmentCall &call) const {
    return pipeline.fragments[static_cast<size_t>(call.fragment)].level;
  }

  /// Frozen layers have no backward pass, and a program may have no layers of a stage.
  bool isBackward(int stage) const {
    return findFragment(pipeline, FragmentKind::Backward, stage) ||
           findFragment(pipeline, FragmentKind::Wgrad, stage);
  }

  void append(const schedule::Action &action) {
    for (FragmentKind kind : getFragmentKinds(action.kind))
      if (std::optional<int> fragment = findFragment(pipeline, kind, action.stage))
        calls.push_back({*fragment, action.microbatch});
      else if (kind == FragmentKind::Forward && isBackward(action.stage))
        throw Fault(fmt::format("'{}' has no fragment for the action {}", pipeline.program,
                                schedule::toText(action)));
  }

  const Pipeline &pipeline;
  const schedule::Schedule &schedule;
  const int rank;
  std::vector<FragmentCall> calls;
};

} // namespace

schedule::Schedule buildSchedule(const Pipeline &pipeline, int64_t ranks, int64_t microbatches) {
  return schedule::makeSchedule(pipeline.schedule,
                                {static_cast<int>(ranks), static_cast<int>(pipeline.stages / ranks),
                                 static_cast<int>(microbatches)});
}

/// Every fragment runs once per step, or once per microbatch.
static void checkIsComplete(const Pipeline &pipeline, const StepOrder &order) {
  std::vector<int64_t> counts(pipeline.fragments.size());
  for (const std::vector<FragmentCall> &calls : order)
    for (const FragmentCall &call : calls)
      ++counts[static_cast<size_t>(call.fragment)];
  for (size_t i = 0; i < counts.size(); ++i) {
    const Fragment &fragment = pipeline.fragments[i];
    if (counts[i] != (runsPerMicrobatch(fragment.kind) ? pipeline.microbatches : 1))
      throw Fault(
          fmt::format("the schedule runs '{}' {} times in a step", fragment.function, counts[i]));
  }
}

StepOrder orderStep(const Pipeline &pipeline, const schedule::Schedule &schedule) {
  StepOrder order;
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank)
    order.push_back(RowOrder(pipeline, schedule, static_cast<int>(rank)).run());
  checkIsComplete(pipeline, order);
  return order;
}

std::string getName(const Pipeline &pipeline, const FragmentCall &call) {
  const Fragment &fragment = pipeline.fragments[static_cast<size_t>(call.fragment)];
  if (call.microbatch < 0)
    return fragment.function;
  const bool isDivided = findFragment(pipeline, FragmentKind::Wgrad, fragment.stage).has_value();
  const schedule::Kind kind = fragment.kind == FragmentKind::Forward ? schedule::Kind::Forward
                              : fragment.kind == FragmentKind::Wgrad ? schedule::Kind::Wgrad
                              : isDivided                            ? schedule::Kind::Dgrad
                                                                     : schedule::Kind::Backward;
  return schedule::toText({kind, fragment.stage, static_cast<int>(call.microbatch)});
}

} // namespace titan::pipeline
