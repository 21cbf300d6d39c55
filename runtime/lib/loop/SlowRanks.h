// Finds a rank that is repeatedly slower than the others. A rank's busy time is the time of its
// steps without its waits for other ranks. All ranks of a step end it together, so the busy times
// differ and the others wait for the slowest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace titan::rt {

class SlowRanks {
public:
  /// `stage[r]` is the stage of the pipeline that rank r runs: only ranks that run the same one are
  /// compared.
  explicit SlowRanks(std::vector<int64_t> stage) : stage(std::move(stage)) {}

  struct Note {
    int rank;
    int64_t first, last;      ///< the steps
    double seconds, ofOthers; ///< busy, per step; that of the others is the median
  };
  /// Adds the mean busy seconds of each rank in the steps up to `step`. Returns the rank that was
  /// the slowest one of its stage, by a quarter at least, in three additions in a row; once until
  /// another rank is.
  std::optional<Note> add(int64_t step, const std::vector<double> &seconds);

private:
  struct Slowest {
    int rank;
    double seconds, ofOthers;
  };
  std::optional<Slowest> findSlowest(const std::vector<double> &seconds) const;

  std::vector<int64_t> stage;
  int64_t previousStep = 0;
  Note current = {-1, 0, 0, 0, 0}; ///< the slowest rank of the latest additions, and their sums
  int64_t times = 0;               ///< the number of these additions
  int noted = -1;
};

/// `note`, as a sentence.
std::string describe(const SlowRanks::Note &note);

} // namespace titan::rt
