// Verification that each stage computes each microbatch once.
#include "base/schedule/VerifyChecks.h"

#include <algorithm>
#include <map>
#include <vector>

namespace titan::schedule {

static std::string quote(const Action &action) {
  return "`" + toText(action) + "`";
}

/// The positions of computations by `number`, their stage or microbatch.
static std::map<int, std::vector<Position>> groupActions(const Schedule &schedule,
                                                         int Action::*number) {
  std::map<int, std::vector<Position>> groups;
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank)
    for (size_t i = 0; i < schedule.ranks[rank].size(); ++i)
      if (const Action &action = schedule.ranks[rank][i]; isCompute(action.kind))
        groups[action.*number].push_back({rank, i});
  return groups;
}

/// Reports the actions of the last stage or microbatch if others have more than twice as many:
/// these few have a wrong number, and no other rank lacks the rest.
static void checkStray(Verification &verification, const std::string &what, int Action::*number) {
  const auto groups = groupActions(verification.schedule, number);
  if (groups.size() < 2)
    return;
  const auto &[last, positions] = *groups.rbegin();
  size_t most = 0;
  for (const auto &[other, of] : groups)
    most = std::max(most, of.size());
  if (2 * positions.size() >= most)
    return;
  for (Position position : positions)
    verification.add(position,
                     quote(verification.at(position)) + " has " + what + " " +
                         std::to_string(last) + ", of which the table has " +
                         std::to_string(positions.size()) +
                         (positions.size() == 1 ? " action" : " actions") +
                         "; other numbers have " + std::to_string(most),
                     "number it below " + std::to_string(last) + ", or add the other actions of " +
                         what + " " + std::to_string(last));
}

void checkShape(Verification &verification) {
  const Schedule &schedule = verification.schedule;
  if (schedule.ranks.empty())
    verification.faults.push_back({-1, -1, "the table has no rows", "write one line a rank"});
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank)
    if (schedule.ranks[rank].empty())
      verification.addToRow(rank, "rank " + std::to_string(rank) + " has no actions",
                            "give it a stage, or remove the line");
  checkStray(verification, "stage", &Action::stage);
  if (verification.faults.empty())
    checkStray(verification, "microbatch", &Action::microbatch);
  for (int stage = 0; stage < schedule.stages && !verification.isFull(); ++stage)
    if (schedule.getRankOfStage(stage) < 0)
      verification.faults.push_back({-1, -1, "no rank has stage " + std::to_string(stage),
                                     "number the stages from 0, without gaps"});
}

void checkOnce(Verification &verification) {
  const Schedule &schedule = verification.schedule;
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank)
    for (size_t i = 0; i < schedule.ranks[rank].size(); ++i) {
      const Position here{rank, i};
      const Action &action = verification.at(here);
      const int owner = schedule.getRankOfStage(action.stage);
      const Position first = *verification.actions.find(action);
      if (owner != static_cast<int>(rank))
        verification.add(here,
                         quote(action) + " is on rank " + std::to_string(rank) + ", but stage " +
                             std::to_string(action.stage) + " is on rank " + std::to_string(owner),
                         first.rank == rank ? "move it to rank " + std::to_string(owner)
                                            : "remove it: " + verification.describe(first) +
                                                  " is the one of its stage");
      else if (hasMicrobatch(action.kind) && (first.rank != rank || first.index != i))
        verification.add(here, quote(action) + " is repeated",
                         "remove it: the first one is in column " +
                             std::to_string(verification.at(first).cell + 1));
    }
}

namespace {

/// Checks that one stage computes all of one microbatch, once.
class CompletenessCheck {
public:
  CompletenessCheck(Verification &verification, int stage, int microbatch)
      : verification(verification), stage(stage), microbatch(microbatch) {}

  void check() {
    require(Kind::Forward, "add it");
    const Position *backward = find(Kind::Backward);
    const bool isSplit = find(Kind::Dgrad) || find(Kind::Wgrad);
    if (!backward && !isSplit)
      require(Kind::Backward, "add it, or " + quote({Kind::Dgrad, stage, microbatch}) + " and " +
                                  quote({Kind::Wgrad, stage, microbatch}));
    for (Kind half : {Kind::Dgrad, Kind::Wgrad})
      if (backward)
        refuseHalf(half, *backward);
      else if (isSplit)
        require(half, "add it");
  }

private:
  const Position *find(Kind kind) const {
    return verification.actions.find({kind, stage, microbatch});
  }
  void require(Kind kind, std::string remedy) {
    if (find(kind))
      return;
    const int rank = verification.schedule.getRankOfStage(stage);
    verification.addToRow(static_cast<size_t>(rank),
                          "rank " + std::to_string(rank) + " never runs " +
                              quote({kind, stage, microbatch}),
                          std::move(remedy));
  }
  void refuseHalf(Kind kind, Position backward) {
    if (const Position *half = find(kind))
      verification.add(*half,
                       quote(verification.at(*half)) + " computes again what " +
                           verification.describe(backward) + " computes",
                       "remove it, or replace " + quote(verification.at(backward)) + " by I and W");
  }

  Verification &verification;
  const int stage, microbatch;
};

} // namespace

void checkComplete(Verification &verification) {
  const Schedule &schedule = verification.schedule;
  for (int stage = 0; stage < schedule.stages; ++stage)
    for (int microbatch = 0; microbatch < schedule.microbatches; ++microbatch) {
      if (verification.isFull())
        return;
      CompletenessCheck(verification, stage, microbatch).check();
    }
}

} // namespace titan::schedule
