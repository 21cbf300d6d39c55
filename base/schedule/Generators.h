// Schedules by algorithm. Generators emit compute actions; passes (Passes.h) add the rest.
#pragma once

#include "base/schedule/Schedule.h"

namespace titan::schedule {

/// The sizes for which a schedule is generated. All numbers are at least 1.
struct Sizes {
  int ranks = 1, stagesPerRank = 1, microbatches = 1;
};

struct Algorithm {
  std::string_view name;   ///< as in `titanc schedule NAME`
  std::string_view title;  ///< a few words
  std::string_view source; ///< paper and section
  int stagesPerRank;       ///< the default
  bool isLooped;           ///< takes any number of stages per rank
  Schedule (*generate)(const Sizes &);
};

/// All algorithms, from simple to elaborate.
const std::vector<Algorithm> &allAlgorithms();
/// Null for an unknown name.
const Algorithm *findAlgorithm(std::string_view name);

/// A schedule of compute actions, one a cell. Throws ScheduleError with the legal values if the
/// algorithm is not defined for these sizes.
Schedule generate(const Algorithm &algorithm, const Sizes &sizes);

// The algorithms. Sizes are legal.
Schedule generateBreadthFirst(const Sizes &sizes);          ///< GPipe, looped BFS
Schedule generateOneForwardOneBackward(const Sizes &sizes); ///< 1F1B
Schedule generateInterleaved(const Sizes &sizes);           ///< interleaved 1F1B
Schedule generateZeroBubbleH1(const Sizes &sizes);          ///< ZB-H1
Schedule generateInterleavedZeroBubble(const Sizes &sizes); ///< ZB-H1 with several stages a rank
Schedule generateZeroBubbleV(const Sizes &sizes);           ///< ZB-V
Schedule generateDualPipeV(const Sizes &sizes);             ///< DualPipeV

} // namespace titan::schedule
