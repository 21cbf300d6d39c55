#include "base/schedule/Memory.h"
#include "base/schedule/Dataflow.h"

#include <algorithm>
#include <map>
#include <set>

namespace titan::schedule {
namespace {

/// The slots of one stage.
class SlotPool {
public:
  int take() {
    if (free.empty())
      return count++;
    return free.extract(free.begin()).value();
  }
  void give(int slot) { free.insert(slot); }
  int size() const { return count; }

private:
  std::set<int> free;
  int count = 0;
};

bool endsStash(Kind kind) {
  return kind == Kind::Backward || kind == Kind::Wgrad;
}

} // namespace

StashSlots assignStashSlots(const Schedule &schedule) {
  const size_t stages = static_cast<size_t>(schedule.stages);
  std::vector<SlotPool> pools(stages);
  StashSlots slots;
  slots.slotOf.assign(stages, std::vector<int>(static_cast<size_t>(schedule.microbatches), -1));
  for (const Row &row : schedule.ranks) {
    int occupied = 0, peak = 0;
    for (const Action &action : row) {
      if (!isCompute(action.kind))
        continue;
      const size_t stage = static_cast<size_t>(action.stage);
      int &slot = slots.slotOf[stage][static_cast<size_t>(action.microbatch)];
      if (action.kind == Kind::Forward) {
        slot = pools[stage].take();
        peak = std::max(peak, ++occupied);
      } else if (endsStash(action.kind)) {
        pools[stage].give(slot);
        --occupied;
      }
    }
    slots.peakOfRank.push_back(peak);
  }
  for (const SlotPool &pool : pools)
    slots.count.push_back(pool.size());
  return slots;
}

namespace {

/// The memory of one rank over its actions.
class RankMemory {
public:
  RankMemory(const Schedule &schedule, const std::vector<StageBytes> &stages, size_t rank)
      : schedule(schedule), stages(stages), row(schedule.ranks[rank]), rank(rank),
        changes(row.size() + 1, 0) {}

  std::vector<int64_t> run() {
    addStorage();
    addValues();
    std::vector<int64_t> memory;
    int64_t bytes = persistent();
    for (size_t i = 0; i < row.size(); ++i)
      memory.push_back(bytes += changes[i]);
    return memory;
  }

private:
  int64_t persistent() const {
    int64_t bytes = 0;
    for (size_t stage = 0; stage < stages.size(); ++stage)
      if (schedule.rankOf[stage] == static_cast<int>(rank))
        bytes += stages[stage].persistent;
    return bytes;
  }

  void addStorage() {
    for (size_t i = 0; i < row.size(); ++i) {
      const int64_t bytes = stages[static_cast<size_t>(row[i].stage)].unsharded;
      if (row[i].kind == Kind::Unshard)
        changes[i] += bytes;
      if (row[i].kind == Kind::Reshard)
        changes[i + 1] -= bytes;
    }
  }

  /// A value is live from the action that writes it to the last one that reads it.
  void addValues() {
    struct LiveRange {
      Value value;
      size_t first, last;
    };
    const ValueNumbers numbers(schedule);
    std::map<size_t, LiveRange> ranges;
    for (size_t i = 0; i < row.size(); ++i) {
      for (const Value &value : getReads(row[i], schedule.stages))
        if (auto found = ranges.find(numbers(value)); found != ranges.end())
          found->second.last = i;
      for (const Value &value : getWrites(row[i]))
        ranges.emplace(numbers(value), LiveRange{value, i, i});
    }
    for (const auto &[number, range] : ranges) {
      changes[range.first] += getByteSize(range.value);
      changes[range.last + 1] -= getByteSize(range.value);
    }
  }

  int64_t getByteSize(const Value &value) const {
    const size_t stage = static_cast<size_t>(value.stage);
    switch (value.kind) {
    case ValueKind::Activation: // the input of the next stage
      return stage + 1 < stages.size() ? stages[stage + 1].boundary : 0;
    case ValueKind::Gradient:
      return stages[stage].boundary;
    case ValueKind::DgradStash:
      return stages[stage].dgradStash;
    case ValueKind::WgradStash:
      return stages[stage].wgradStash;
    case ValueKind::WgradOperands:
      return stages[stage].wgradOperands;
    }
    return 0;
  }

  const Schedule &schedule;
  const std::vector<StageBytes> &stages;
  const Row &row;
  const size_t rank;
  std::vector<int64_t> changes; ///< of the live bytes, before an action
};

} // namespace

std::vector<std::vector<int64_t>> findMemory(const Schedule &schedule,
                                             const std::vector<StageBytes> &stages) {
  std::vector<std::vector<int64_t>> memory;
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank)
    memory.push_back(RankMemory(schedule, stages, rank).run());
  return memory;
}

} // namespace titan::schedule
