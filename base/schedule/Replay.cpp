#include "base/schedule/Replay.h"
#include "base/schedule/Dataflow.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace titan::schedule {

static constexpr double never = std::numeric_limits<double>::infinity();

Costs makeCosts(const StageCosts &ofRank, const Schedule &schedule) {
  const double stages = static_cast<double>(schedule.stages) / double(schedule.ranks.size());
  StageCosts costs{ofRank.forward / stages, ofRank.dgrad / stages, ofRank.wgrad / stages};
  if (ofRank.backward)
    costs.backward = *ofRank.backward / stages;
  return {{costs}};
}

bool Replay::isComplete(const Schedule &schedule) const {
  return std::equal(spans.begin(), spans.end(), schedule.ranks.begin(), schedule.ranks.end(),
                    [](const auto &ran, const Row &row) { return ran.size() == row.size(); });
}

double Replay::bubble() const {
  const double total = step * static_cast<double>(busy.size());
  return total > 0 ? 1 - std::accumulate(busy.begin(), busy.end(), 0.0) / total : 0;
}

namespace {

double getTime(const Action &action, const Costs &costs) {
  const StageCosts &stage =
      costs.stages.size() == 1 ? costs.stages[0] : costs.stages[static_cast<size_t>(action.stage)];
  switch (action.kind) {
  case Kind::Forward:
    return stage.forward;
  case Kind::Backward:
    return stage.backward.value_or(stage.dgrad + stage.wgrad);
  case Kind::Dgrad:
    return stage.dgrad;
  case Kind::Wgrad:
    return stage.wgrad;
  default:
    return 0;
  }
}

class Replayer {
public:
  Replayer(const Schedule &schedule, const Costs &costs, Transfers transfers)
      : schedule(schedule), costs(costs), isBlocking(transfers == Transfers::Blocking),
        hasTransfers(hasKind(schedule, isTransfer)), numbers(schedule),
        written(numbers.count(), never), sent(numbers.count(), never),
        posted(numbers.count(), hasTransfers ? never : 0), clocks(schedule.ranks.size(), 0) {
    result.spans.resize(schedule.ranks.size());
    result.busy.resize(schedule.ranks.size(), 0);
  }

  Replay run() {
    for (bool hasMoved = true; hasMoved;) {
      hasMoved = false;
      for (size_t rank = 0; rank < schedule.ranks.size(); ++rank)
        while (advance(rank))
          hasMoved = true;
    }
    result.step = *std::max_element(clocks.begin(), clocks.end());
    return std::move(result);
  }

private:
  /// Runs the next cell of a rank. False at the end of the row, or if the cell has to wait.
  bool advance(size_t rank) {
    const Row &row = schedule.ranks[rank];
    const size_t first = result.spans[rank].size();
    if (first == row.size())
      return false;
    const size_t end = findEndOfCell(row, first);
    double start = clocks[rank];
    for (size_t i = first; i < end; ++i)
      for (const Value &value : getReads(row[i], schedule.stages))
        start = std::max(start, computeArrival(value, rank));
    if (start == never)
      return false;
    if (isBlocking && isTransfer(row[first].kind))
      return meet(rank, row[first], start);
    runCell(rank, first, end, start);
    return true;
  }

  /// When a value is on a rank.
  double computeArrival(const Value &value, size_t rank) const {
    const size_t number = numbers(value);
    if (schedule.getRankOfStage(value.stage) == static_cast<int>(rank))
      return written[number];
    return std::max(sent[number], posted[number]) + (isBlocking ? 0 : costs.transfer);
  }

  void runCell(size_t rank, size_t first, size_t end, double start) {
    const Row &row = schedule.ranks[rank];
    double time = 0;
    for (size_t i = first; i < end; ++i)
      time += getTime(row[i], costs);
    time *= end > first + 1 ? costs.overlap : 1;
    for (size_t i = first; i < end; ++i) {
      result.spans[rank].push_back({start, start + time});
      finish(row[i], start + time);
    }
    result.busy[rank] += time;
    clocks[rank] = start + time;
  }

  void finish(const Action &action, double end) {
    if (isTransfer(action.kind)) {
      const bool isSend = action.kind == Kind::SendForward || action.kind == Kind::SendBackward;
      (isSend ? sent : posted)[numbers(getMovedValue(action))] = end;
      return;
    }
    for (const Value &value : getWrites(action)) {
      written[numbers(value)] = end;
      if (!hasTransfers)
        sent[numbers(value)] = end;
    }
  }

  /// Runs a send together with its receive if the other rank has reached it.
  bool meet(size_t rank, const Action &transfer, double start) {
    const Action peer = getPeer(transfer);
    const size_t other = static_cast<size_t>(schedule.getRankOfStage(peer.stage));
    const Row &row = schedule.ranks[other];
    const size_t next = result.spans[other].size();
    const bool isReceive =
        transfer.kind == Kind::ReceiveForward || transfer.kind == Kind::ReceiveBackward;
    if (isReceive || next == row.size() || !isSame(row[next], peer)) // the sender starts both
      return false;
    const Span span{std::max(start, clocks[other]),
                    std::max(start, clocks[other]) + costs.transfer};
    const size_t number = numbers(getMovedValue(transfer));
    sent[number] = posted[number] = span.end;
    for (size_t peerRank : {rank, other}) {
      result.spans[peerRank].push_back(span);
      clocks[peerRank] = span.end;
    }
    return true;
  }

  const Schedule &schedule;
  const Costs &costs;
  const bool isBlocking, hasTransfers;
  const ValueNumbers numbers;
  /// Per value: when it was written, sent, and when its receive was reached.
  std::vector<double> written, sent, posted;
  std::vector<double> clocks; ///< per rank
  Replay result;
};

} // namespace

Replay replay(const Schedule &schedule, const Costs &costs, Transfers transfers) {
  return Replayer(schedule, costs, transfers).run();
}

} // namespace titan::schedule
