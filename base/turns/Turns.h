// Which parameters a step updates.
//
// Groups of parameters may have periods: a step updates the groups that are due. The parameters of
// one loss that are due together are updated by one program function, a turn. Steps count from 1.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace titan {

/// A group is due in step `offset` + 1, and in every `every`-th step from there on.
struct Period {
  int64_t every = 1;  ///< at least 1
  int64_t offset = 0; ///< at least 0

  bool isDue(int64_t step) const { return step > offset && (step - offset - 1) % every == 0; }
  bool operator==(const Period &) const = default;
};

/// A turn runs in the steps in which all periods of `due` are due and none of `idle` is.
struct Turn {
  std::vector<Period> due, idle;

  bool runsIn(int64_t step) const;
};

/// A number of steps after which `periods` have been due in all combinations: the largest offset,
/// plus the least common multiple of the periods. Nothing if it exceeds `kMostSteps`.
std::optional<int64_t> stepsUntilRepetition(const std::vector<Period> &periods);
inline constexpr int64_t kMostSteps = 1'000'000;

/// A turn for each combination of distinct `periods` that are due in one step, in the order of its
/// first step. Each turn lists all periods. The periods must repeat within `kMostSteps`.
std::vector<Turn> findTurns(const std::vector<Period> &periods);

/// The first step in which none of `periods`, which repeat within `kMostSteps`, is due.
std::optional<int64_t> findIdleStep(const std::vector<Period> &periods);

/// The fraction of the steps, in a long run, in which `turn` runs.
double computeStepFraction(const Turn &turn);

} // namespace titan
