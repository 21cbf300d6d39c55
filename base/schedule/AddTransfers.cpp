// Adds the sends and receives of a pipeline schedule, in the order of a replay in time.
#include "base/schedule/Dataflow.h"
#include "base/schedule/Passes.h"
#include "base/schedule/Replay.h"

#include <algorithm>
#include <limits>

namespace titan::schedule {
namespace {

/// A send, at the time at which its value is computed.
struct Transfer {
  double time;
  int from, to;
  Action send;
};

/// The send that follows a compute action, if another rank reads its result.
std::optional<Action> findSendAfter(const Schedule &schedule, const Action &action) {
  for (const Value &value : getWrites(action)) {
    const bool isActivation = value.kind == ValueKind::Activation;
    if (!isActivation && value.kind != ValueKind::Gradient)
      continue;
    const int reader = findReader(schedule, value);
    if (reader >= 0 && reader != schedule.getRankOfStage(action.stage))
      return Action{isActivation ? Kind::SendForward : Kind::SendBackward, action.stage,
                    action.microbatch};
  }
  return std::nullopt;
}

std::vector<Transfer> findTransfers(const Schedule &schedule, const Replay &times) {
  std::vector<Transfer> transfers;
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank)
    for (size_t i = 0; i < schedule.ranks[rank].size(); ++i)
      if (auto send = findSendAfter(schedule, schedule.ranks[rank][i]))
        transfers.push_back({times.spans[rank][i].end, static_cast<int>(rank),
                             schedule.getRankOfStage(getPeer(*send).stage), *send});
  std::stable_sort(transfers.begin(), transfers.end(),
                   [](const Transfer &a, const Transfer &b) { return a.time < b.time; });
  return transfers;
}

/// Merges a row with the transfers of its rank; a transfer precedes the actions that start at its
/// time.
Row mergeTransfers(const Row &row, const std::vector<Span> &spans,
                   const std::vector<Transfer> &transfers, int rank) {
  Row merged;
  auto transfer = transfers.begin();
  auto addUntil = [&](double time) {
    for (; transfer != transfers.end() && transfer->time <= time; ++transfer) {
      if (transfer->from == rank)
        append(merged, transfer->send);
      if (transfer->to == rank)
        append(merged, getPeer(transfer->send));
    }
  };
  for (size_t i = 0, end = 0; i < row.size(); i = end) {
    end = findEndOfCell(row, i);
    addUntil(spans[i].start);
    appendCell(merged, row, i, end);
  }
  addUntil(std::numeric_limits<double>::infinity());
  return merged;
}

} // namespace

Schedule addTransfers(const Schedule &schedule) {
  if (hasKind(schedule, isTransfer))
    throw ScheduleError("the schedule has sends and receives already", "leave them as they are");
  const Replay times = replay(schedule, Costs());
  const std::vector<Transfer> transfers = findTransfers(schedule, times);
  Schedule result = schedule;
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank)
    result.ranks[rank] =
        mergeTransfers(schedule.ranks[rank], times.spans[rank], transfers, static_cast<int>(rank));
  return result;
}

} // namespace titan::schedule
