#include "base/pipeline/Pipelines.h"

#include <algorithm>
#include <set>

namespace titan::pipeline {

namespace {

template <typename T> bool contains(const std::vector<T> &list, const T &item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// Whether the command of the program runs the fragments of a pipeline: all of them or none.
bool isRunByCommand(const Table &table, const Pipeline &pipeline) {
  return std::all_of(
      pipeline.fragments.begin(), pipeline.fragments.end(),
      [&](const Fragment &fragment) { return contains(table.functions, fragment.function); });
}

} // namespace

std::vector<PlannedStep> planSteps(const Table &table, std::span<const int64_t> degree) {
  std::vector<PlannedStep> steps;
  int64_t microbatches = 1;
  for (const Pipeline &pipeline : table.pipelines)
    microbatches = std::max(microbatches, pipeline.microbatches);
  for (const Pipeline &pipeline : table.pipelines) {
    PlannedStep &step = steps.emplace_back();
    step.schedule =
        buildSchedule(pipeline, degree[static_cast<size_t>(pipeline.axis)], microbatches);
    if (!isRunByCommand(table, pipeline))
      continue;
    step.order = orderStep(pipeline, step.schedule);
    step.transfers = findTransfers(pipeline, step.order);
  }
  return steps;
}

Pipelines::Pipelines(const Table &table, const std::vector<PlannedStep> &steps,
                     std::span<const int64_t> coordinate) {
  if (table.pipelines.empty())
    return;
  meshAxis = table.pipelines.front().axis;
  rank = static_cast<int>(coordinate[static_cast<size_t>(meshAxis)]);
  copies.assign(table.isStored.size(), 0);
  holders.assign(table.isStored.size(), -1);
  for (size_t i = 0; i < steps.size(); ++i) {
    assignAllocations(table, table.pipelines[i], steps[i].schedule);
    if (isRunByCommand(table, table.pipelines[i]))
      addPlan(table, table.pipelines[i], steps[i]);
  }
  assignUnusedToFirstRank(table);
}

/// Files contain parameters and states that no fragment uses, so one rank must have them.
void Pipelines::assignUnusedToFirstRank(const Table &table) {
  const std::vector<bool> &isStored = table.isStored;
  for (size_t i = 0; i < isStored.size(); ++i)
    if (isStored[i] && holders[i] < 0) {
      holders[i] = 0;
      copies[i] = rank == 0 ? 1 : 0;
    }
}

/// Gives the allocations of fragments to the ranks that run them. A fragment that the command does
/// not run needs only its parameters and states.
void Pipelines::assignAllocations(const Table &table, const Pipeline &pipeline,
                                  const schedule::Schedule &schedule) {
  for (const Fragment &fragment : pipeline.fragments) {
    const int runner = schedule.getRankOfStage(fragment.stage);
    const bool isNeeded = contains(table.functions, fragment.function);
    if (runner != rank)
      functionsOfOtherRanks.push_back(fragment.function);
    for (int allocation : fragment.uses) {
      const size_t index = static_cast<size_t>(allocation);
      if (!isNeeded && !table.isStored[index])
        continue;
      if (holders[index] < 0 || runner < holders[index])
        holders[index] = runner;
      if (runner == rank)
        copies[index] = std::max<int64_t>(copies[index], 1);
    }
  }
}

void Pipelines::addPlan(const Table &table, const Pipeline &pipeline, const PlannedStep &step) {
  RankPlan plan = planRank(pipeline, table.functions, step.order, step.transfers, rank);
  for (const auto &[allocation, slots] : plan.slots)
    copies[static_cast<size_t>(allocation)] =
        std::max(copies[static_cast<size_t>(allocation)], slots);
  for (int allocation : pipeline.inputs) {
    packed.push_back(allocation);
    if (int64_t &count = copies[static_cast<size_t>(allocation)]; count > 0)
      count = pipeline.microbatches;
  }
  std::set<int> offsets(messageOffsets.begin(), messageOffsets.end());
  for (const Transfer &transfer : step.transfers)
    offsets.insert(transfer.to - transfer.from);
  messageOffsets.assign(offsets.begin(), offsets.end());
  const int last = plan.calls.back().fragment.fragment;
  entries.push_back(
      {pipeline.program, std::move(plan), pipeline.fragments[static_cast<size_t>(last)].function});
}

const Pipelines::Entry *Pipelines::findEntry(const std::string &program) const {
  for (const Entry &entry : entries)
    if (entry.program == program)
      return &entry;
  return nullptr;
}

const RankPlan *Pipelines::find(const std::string &program) const {
  const Entry *entry = findEntry(program);
  return entry ? &entry->plan : nullptr;
}

const std::string &Pipelines::getOutputFunction(const std::string &program) const {
  const Entry *entry = findEntry(program);
  return entry ? entry->lastFunction : program;
}

bool Pipelines::isPacked(size_t allocation) const {
  return contains(packed, static_cast<int>(allocation));
}

bool Pipelines::runs(const std::string &function) const {
  return !contains(functionsOfOtherRanks, function);
}

} // namespace titan::pipeline
