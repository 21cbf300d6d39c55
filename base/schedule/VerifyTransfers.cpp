// Verification of sends, receives and the order of actions.
#include "base/schedule/Dataflow.h"
#include "base/schedule/VerifyChecks.h"

#include <map>

namespace titan::schedule {
namespace {

/// An action that another rank waits for must be followed by a send, and the reader by a receive.
void requireTransfer(Verification &verification, Position computed, const Value &value) {
  const Schedule &schedule = verification.schedule;
  const int reader = findReader(schedule, value);
  if (reader < 0 || reader == static_cast<int>(computed.rank))
    return;
  const bool isActivation = value.kind == ValueKind::Activation;
  const Action send{isActivation ? Kind::SendForward : Kind::SendBackward, value.stage,
                    value.microbatch};
  if (!verification.actions.find(send))
    verification.add(computed,
                     "rank " + std::to_string(reader) + " reads the result of `" +
                         toText(verification.at(computed)) + "`, which is never sent",
                     "add `" + toText(send) + "` behind it");
  if (const Action receive = getPeer(send); !verification.actions.find(receive))
    verification.addToRow(static_cast<size_t>(reader),
                          "rank " + std::to_string(reader) + " never receives the result of " +
                              verification.describe(computed),
                          "add `" + toText(receive) + "`");
}

/// A send or receive must move a value that another rank reads.
void requireReader(Verification &verification, Position at) {
  const Schedule &schedule = verification.schedule;
  const Action &transfer = verification.at(at);
  const Value value = getMovedValue(transfer);
  const bool exists = value.stage >= 0 && value.stage < schedule.stages;
  const int reader = exists ? findReader(schedule, value) : -1;
  if (reader >= 0 && reader != schedule.getRankOfStage(value.stage))
    return;
  verification.add(
      at,
      "`" + toText(transfer) + "` has no peer: " +
          (reader < 0 ? "stage " + std::to_string(transfer.stage) + " is at the end of the pipeline"
                      : "both stages are on rank " + std::to_string(reader)),
      "remove it");
}

} // namespace

void checkTransfers(Verification &verification) {
  if (!verification.hasTransfers)
    return;
  const Schedule &schedule = verification.schedule;
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank)
    for (size_t i = 0; i < schedule.ranks[rank].size(); ++i) {
      const Action &action = schedule.ranks[rank][i];
      if (isTransfer(action.kind)) {
        requireReader(verification, {rank, i});
        continue;
      }
      for (const Value &value : getWrites(action))
        if (value.kind == ValueKind::Activation || value.kind == ValueKind::Gradient)
          requireTransfer(verification, {rank, i}, value);
    }
}

void checkOrder(Verification &verification) {
  const Schedule &schedule = verification.schedule;
  const ValueNumbers numbers(schedule);
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    const Row &row = schedule.ranks[rank];
    std::map<size_t, size_t> writers; // of each value, on this rank
    for (size_t i = 0; i < row.size(); ++i)
      for (const Value &value : getWrites(row[i]))
        writers[numbers(value)] = i;
    for (size_t i = 0; i < row.size(); ++i)
      for (const Value &value : getReads(row[i], schedule.stages)) {
        auto writer = writers.find(numbers(value));
        if (writer == writers.end() || row[writer->second].cell < row[i].cell)
          continue;
        verification.add({rank, i},
                         "`" + toText(row[i]) + "` reads the result of " +
                             verification.describe({rank, writer->second}) +
                             ", which does not precede it",
                         "move it behind column " + std::to_string(row[writer->second].cell + 1));
        break; // the other values of the writer are as late
      }
  }
}

} // namespace titan::schedule
