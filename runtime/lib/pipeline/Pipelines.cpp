#include "Pipelines.h"

#include <algorithm>
#include <set>

namespace titan::rt {

namespace {

template <typename T> bool contains(const std::vector<T> &list, const T &item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

bool hasFunction(const Program &program, const std::string &name) {
  return std::any_of(program.functions.begin(), program.functions.end(),
                     [&](const Function &function) { return function.name == name; });
}

/// The command runs all fragments of a pipeline or none.
bool isRun(const Program &program, const Pipeline &pipeline) {
  return std::all_of(
      pipeline.fragments.begin(), pipeline.fragments.end(),
      [&](const Fragment &fragment) { return hasFunction(program, fragment.function); });
}

/// Per persistent allocation, whether files contain it.
std::vector<bool> findStored(const Program &program) {
  std::vector<bool> isStored(program.persistent.size());
  for (const Tensor &tensor : program.tensors)
    if (tensor.role == Role::Parameter || tensor.role == Role::State)
      isStored[static_cast<size_t>(tensor.allocation)] = true;
  return isStored;
}

} // namespace

Pipelines::Pipelines(const Program &program, std::span<const int64_t> degree,
                     std::span<const int64_t> coordinate) {
  if (program.pipelines.empty())
    return;
  meshAxis = program.pipelines.front().axis;
  rank = static_cast<int>(coordinate[static_cast<size_t>(meshAxis)]);
  copies.assign(program.persistent.size(), 0);
  holders.assign(program.persistent.size(), -1);
  for (const Pipeline &pipeline : program.pipelines) {
    const schedule::Schedule schedule =
        scheduleOf(program, pipeline, degree[static_cast<size_t>(meshAxis)]);
    findMemory(program, pipeline, schedule);
    if (isRun(program, pipeline))
      add(pipeline, schedule);
  }
  holdUnused(program);
}

/// Files contain parameters and states that no fragment uses.
void Pipelines::holdUnused(const Program &program) {
  const std::vector<bool> isStored = findStored(program);
  for (size_t i = 0; i < isStored.size(); ++i)
    if (isStored[i] && holders[i] < 0) {
      holders[i] = 0;
      copies[i] = rank == 0 ? 1 : 0;
    }
}

/// Of a fragment that the command does not run, parameters and states are needed alone.
void Pipelines::findMemory(const Program &program, const Pipeline &pipeline,
                           const schedule::Schedule &schedule) {
  const std::vector<bool> isStored = findStored(program);
  for (const Fragment &fragment : pipeline.fragments) {
    const int runner = schedule.rankOfStage(fragment.stage);
    const bool isNeeded = hasFunction(program, fragment.function);
    if (runner != rank)
      elsewhere.push_back(fragment.function);
    for (int allocation : fragment.uses) {
      const size_t index = static_cast<size_t>(allocation);
      if (!isNeeded && !isStored[index])
        continue;
      if (holders[index] < 0 || runner < holders[index])
        holders[index] = runner;
      if (runner == rank)
        copies[index] = std::max<int64_t>(copies[index], 1);
    }
  }
}

void Pipelines::add(const Pipeline &pipeline, const schedule::Schedule &schedule) {
  const StepOrder order = orderStep(pipeline, schedule);
  const std::vector<Transfer> transfers = findTransfers(pipeline, order);
  RankPlan plan = planRank(pipeline, order, transfers, rank);
  for (const auto &[allocation, slots] : plan.slots)
    copies[static_cast<size_t>(allocation)] =
        std::max(copies[static_cast<size_t>(allocation)], slots);
  for (int allocation : pipeline.inputs) {
    packed.push_back(allocation);
    if (int64_t &count = copies[static_cast<size_t>(allocation)]; count > 0)
      count = pipeline.microbatches;
  }
  std::set<int> all(messageOffsets.begin(), messageOffsets.end());
  for (const Transfer &transfer : transfers)
    all.insert(transfer.to - transfer.from);
  messageOffsets.assign(all.begin(), all.end());
  entries.push_back({pipeline.program, std::move(plan)});
}

const RankPlan *Pipelines::find(const std::string &program) const {
  for (const Entry &entry : entries)
    if (entry.program == program)
      return &entry.plan;
  return nullptr;
}

const std::string &Pipelines::outputsOf(const std::string &program) const {
  const RankPlan *plan = find(program);
  return plan ? plan->calls.back().function : program;
}

bool Pipelines::isPacked(size_t allocation) const {
  return contains(packed, static_cast<int>(allocation));
}

bool Pipelines::runs(const std::string &function) const {
  return !contains(elsewhere, function);
}

} // namespace titan::rt
