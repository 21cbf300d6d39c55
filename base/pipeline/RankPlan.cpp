#include "base/pipeline/RankPlan.h"

#include "base/Error.h"
#include "base/pipeline/Slots.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace titan::pipeline {

namespace {

/// The life of a stashed value on the rank.
struct StashedValue {
  int64_t microbatch;
  Occupation calls;
  std::vector<int> sends = {}; ///< messages
};

class RankPlanner {
public:
  RankPlanner(const Pipeline &pipeline, const std::vector<std::string> &functions,
              const std::vector<FragmentCall> &calls, int rank)
      : pipeline(pipeline), rank(rank) {
    for (const FragmentCall &call : calls)
      plan.calls.push_back({call,
                            getFunctionIndex(functions, getFragment(call).function),
                            getName(pipeline, call),
                            {}});
    for (const Fragment &fragment : pipeline.fragments)
      plan.uses.push_back(fragment.uses);
  }

  RankPlan run(const std::vector<Transfer> &transfers) {
    addMessages(transfers);
    findStashes();
    for (auto &[allocation, values] : stashes)
      assignSlotsOfStash(allocation, values);
    for (const auto &[message, microbatch] : stashedMessages)
      plan.messages[static_cast<size_t>(message)].slot =
          slots.at({plan.messages[static_cast<size_t>(message)].allocation, microbatch});
    for (PlannedCall &call : plan.calls)
      selectSlots(call);
    waitForSends();
    return std::move(plan);
  }

private:
  static size_t getFunctionIndex(const std::vector<std::string> &functions,
                                 const std::string &name) {
    const auto found = std::find(functions.begin(), functions.end(), name);
    if (found == functions.end())
      throw Fault(fmt::format("the program has no function '{}'", name));
    return static_cast<size_t>(found - functions.begin());
  }
  const Fragment &getFragment(const FragmentCall &call) const {
    return pipeline.fragments[static_cast<size_t>(call.fragment)];
  }
  bool isInput(int allocation) const {
    return std::find(pipeline.inputs.begin(), pipeline.inputs.end(), allocation) !=
           pipeline.inputs.end();
  }

  void addMessages(const std::vector<Transfer> &transfers) {
    for (const Transfer &transfer : transfers) {
      if (transfer.from != rank && transfer.to != rank)
        continue;
      const int number = static_cast<int>(plan.messages.size());
      const bool isSend = transfer.from == rank;
      plan.messages.push_back({isSend, transfer.allocation, 0, transfer.to - transfer.from});
      if (isSend) {
        plan.calls[transfer.written].sends.push_back(number);
      } else {
        plan.calls[transfer.posted].receives.push_back(number);
        plan.calls[transfer.read].waits.push_back(number);
      }
      if (transfer.microbatch < 0)
        continue;
      stashedMessages.push_back({number, transfer.microbatch});
      if (isSend)
        extend(transfer, transfer.written + 1).sends.push_back(number);
      else
        extend(transfer, transfer.posted);
    }
  }

  StashedValue &extend(const Transfer &transfer, size_t call) {
    return extend(transfer.allocation, transfer.microbatch, call);
  }
  /// Extends the live range of a value to `call`, and returns the value.
  StashedValue &extend(int allocation, int64_t microbatch, size_t call) {
    auto [entry, isNew] =
        stashes[allocation].try_emplace(microbatch, StashedValue{microbatch, {call, call}});
    Occupation &calls = entry->second.calls;
    calls = {std::min(calls.begin, call), std::max(calls.end, call)};
    return entry->second;
  }

  void findStashes() {
    for (size_t i = 0; i < plan.calls.size(); ++i) {
      const FragmentCall &call = plan.calls[i].fragment;
      for (int allocation : getFragment(call).uses)
        if (isStash(pipeline, allocation))
          extend(allocation, call.microbatch, i);
    }
  }

  /// If the previous value of a slot is sent, its sends end before the call that writes the next
  /// one.
  void assignSlotsOfStash(int allocation, const std::map<int64_t, StashedValue> &byMicrobatch) {
    std::vector<const StashedValue *> values;
    for (const auto &[microbatch, value] : byMicrobatch)
      values.push_back(&value);
    std::stable_sort(values.begin(), values.end(),
                     [](const auto *a, const auto *b) { return a->calls.begin < b->calls.begin; });
    std::vector<Occupation> occupations;
    for (const StashedValue *value : values)
      occupations.push_back(value->calls);
    const SlotAssignment assignment = assignSlots(occupations);
    plan.slots[allocation] = assignment.count;
    std::map<int64_t, const StashedValue *> previous;
    for (size_t i = 0; i < values.size(); ++i) {
      const int64_t slot = assignment.slotOf[i];
      slots[{allocation, values[i]->microbatch}] = slot;
      if (const StashedValue *before = std::exchange(previous[slot], values[i]))
        for (int send : before->sends)
          endBefore(send, values[i]->calls.begin);
    }
  }

  void endBefore(int message, size_t call) {
    plan.calls[call].waits.push_back(message);
    ended.push_back(message);
  }

  void selectSlots(PlannedCall &call) const {
    for (int allocation : getFragment(call.fragment).uses)
      if (isStash(pipeline, allocation))
        call.slots.push_back({allocation, slots.at({allocation, call.fragment.microbatch})});
      else if (isInput(allocation))
        call.slots.push_back({allocation, call.fragment.microbatch});
  }

  void waitForSends() {
    for (size_t i = 0; i < plan.messages.size(); ++i)
      if (plan.messages[i].isSend &&
          std::find(ended.begin(), ended.end(), static_cast<int>(i)) == ended.end())
        plan.lastWaits.push_back(static_cast<int>(i));
  }

  const Pipeline &pipeline;
  const int rank;
  RankPlan plan;
  std::map<int, std::map<int64_t, StashedValue>> stashes; ///< by allocation and microbatch
  std::map<std::pair<int, int64_t>, int64_t> slots;       ///< by allocation and microbatch
  std::vector<std::pair<int, int64_t>> stashedMessages;   ///< message and microbatch
  std::vector<int> ended;                                 ///< sends that end before a call
};

} // namespace

RankPlan planRank(const Pipeline &pipeline, const std::vector<std::string> &functions,
                  const StepOrder &order, const std::vector<Transfer> &transfers, int rank) {
  return RankPlanner(pipeline, functions, order[static_cast<size_t>(rank)], rank).run(transfers);
}

} // namespace titan::pipeline
