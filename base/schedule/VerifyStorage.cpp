// Verification of UNSHARD, RESHARD, REDUCE_GRAD and of memory.
#include "base/schedule/VerifyChecks.h"

#include <map>

namespace titan::schedule {
namespace {

bool isUnshardOrReshard(Kind kind) {
  return kind == Kind::Unshard || kind == Kind::Reshard;
}
bool isReduceGrad(Kind kind) {
  return kind == Kind::ReduceGrad;
}

/// Follows which stages of a rank are unsharded.
class UnshardCheck {
public:
  UnshardCheck(Verification &verification, size_t rank) : verification(verification), rank(rank) {}

  void run() {
    for (size_t i = 0; i < verification.schedule.ranks[rank].size(); ++i)
      step({rank, i});
    for (auto [stage, since] : unsharded)
      verification.add(since, "stage " + std::to_string(stage) + " stays unsharded",
                       "add `" + toText({Kind::Reshard, stage}) + "` behind its last action");
  }

private:
  void step(Position here) {
    const Action &action = verification.at(here);
    const std::string text = "`" + toText(action) + "`", stage = std::to_string(action.stage);
    const auto since = unsharded.find(action.stage);
    const bool isUnsharded = since != unsharded.end();
    if (action.kind == Kind::Unshard && isUnsharded)
      verification.add(here,
                       text + " repeats " + verification.describe(since->second) +
                           " without RESHARD between them",
                       "remove it, or add `" + toText({Kind::Reshard, action.stage}) +
                           "` before it");
    else if (action.kind == Kind::Unshard)
      unsharded[action.stage] = here;
    else if (action.kind == Kind::Reshard && isUnsharded)
      unsharded.erase(since);
    else if (action.kind == Kind::Reshard)
      verification.add(here, text + ": stage " + stage + " is not unsharded here",
                       "remove it, or add `" + toText({Kind::Unshard, action.stage}) +
                           "` before the stage computes");
    else if (isCompute(action.kind) && !isUnsharded)
      verification.add(here,
                       text + " computes while the parameters of stage " + stage + " are sharded",
                       "add `" + toText({Kind::Unshard, action.stage}) + "` before it");
  }

  Verification &verification;
  const size_t rank;
  std::map<int, Position> unsharded; ///< stages, and where they were unsharded
};

/// REDUCE_GRAD of each stage of a rank follows all its gradients.
void checkReductions(Verification &verification, size_t rank) {
  const Row &row = verification.schedule.ranks[rank];
  std::map<int, size_t> gradient, reduction; // of each stage, the last gradient and the reduction
  for (size_t i = 0; i < row.size(); ++i) {
    if (row[i].kind == Kind::Backward || row[i].kind == Kind::Wgrad)
      gradient[row[i].stage] = i;
    if (isReduceGrad(row[i].kind) && !reduction.try_emplace(row[i].stage, i).second)
      verification.add({rank, i}, "`" + toText(row[i]) + "` is repeated",
                       "remove it: gradients are reduced once a step");
  }
  for (auto [stage, last] : gradient) {
    const std::string text = "`" + toText({Kind::ReduceGrad, stage}) + "`";
    const auto found = reduction.find(stage);
    if (found == reduction.end())
      verification.addToRow(rank, "rank " + std::to_string(rank) + " never runs " + text,
                            "add it behind " + verification.describe({rank, last}));
    else if (row[found->second].cell <= row[last].cell)
      verification.add({rank, found->second},
                       text + " precedes the gradient of " + verification.describe({rank, last}),
                       "move it behind column " + std::to_string(row[last].cell + 1));
  }
}

} // namespace

void checkStorage(Verification &verification) {
  const Schedule &schedule = verification.schedule;
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    if (hasKind(schedule, isUnshardOrReshard))
      UnshardCheck(verification, rank).run();
    if (hasKind(schedule, isReduceGrad))
      checkReductions(verification, rank);
  }
}

void checkMemory(Verification &verification, const MemoryLimit &limit) {
  const auto memory = findMemory(verification.schedule, limit.stages);
  for (size_t rank = 0; rank < memory.size(); ++rank)
    for (size_t i = 0; i < memory[rank].size(); ++i)
      if (memory[rank][i] > limit.bytes) {
        verification.add({rank, i},
                         "rank " + std::to_string(rank) + " needs " +
                             std::to_string(memory[rank][i]) + " bytes with " +
                             verification.describe({rank, i}) + ", and has " +
                             std::to_string(limit.bytes),
                         "run backward passes earlier, or raise the limit");
        break;
      }
}

} // namespace titan::schedule
