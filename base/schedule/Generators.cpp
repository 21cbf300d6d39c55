#include "base/schedule/Generators.h"

#include <algorithm>

namespace titan::schedule {

const std::vector<Algorithm> &allAlgorithms() {
  static const std::vector<Algorithm> all = {
      {"gpipe", "all forward passes, then all backward passes",
       "Huang et al., GPipe, arXiv 1811.06965, section 2.3", 1, false, generateBreadthFirst},
      {"1f1b", "one forward, one backward",
       "Narayanan et al., PipeDream, arXiv 1806.03377; with a flush, arXiv 2006.09503, section 2.2",
       1, false, generateOneForwardOneBackward},
      {"interleaved_1f1b", "1F1B with several stages a rank",
       "Narayanan et al., Megatron-LM, arXiv 2104.04473, section 2.2", 2, true,
       generateInterleaved},
      {"looped_bfs", "GPipe with several stages a rank",
       "Lamy-Poirier, Breadth-First Pipeline Parallelism, arXiv 2211.05953, section 4", 2, true,
       generateBreadthFirst},
      {"zb_h1", "1F1B with wgrad apart, in the memory of 1F1B",
       "Qi et al., Zero Bubble Pipeline Parallelism, arXiv 2401.10241, section 2.2", 1, false,
       generateZeroBubbleH1},
      {"interleaved_zb", "ZB-H1 with several stages a rank",
       "torch.distributed.pipelining, ScheduleInterleavedZeroBubble, after arXiv 2401.10241", 2,
       true, generateInterleavedZeroBubble},
      {"zbv", "wgrad apart, two stages a rank in the form of a V",
       "Qi et al., Zero Bubble Pipeline Parallelism, arXiv 2401.10241, section 6", 2, false,
       generateZeroBubbleV},
      {"dualpipev", "forward and backward passes overlap, two stages a rank in the form of a V",
       "Liu et al., arXiv 2412.19437, section 3.2.1 (DualPipe)", 2, false, generateDualPipeV},
  };
  return all;
}

const Algorithm *findAlgorithm(std::string_view name) {
  const std::vector<Algorithm> &all = allAlgorithms();
  auto found = std::find_if(all.begin(), all.end(),
                            [&](const Algorithm &algorithm) { return algorithm.name == name; });
  return found == all.end() ? nullptr : &*found;
}

Schedule generate(const Algorithm &algorithm, const Sizes &sizes) {
  const std::string name(algorithm.name);
  if (!algorithm.isLooped && sizes.stagesPerRank != algorithm.stagesPerRank) {
    const std::string legal = std::to_string(algorithm.stagesPerRank);
    throw ScheduleError(name + " has " + legal + " stage" + (legal == "1" ? "" : "s") +
                            " a rank, not " + std::to_string(sizes.stagesPerRank),
                        "leave out the number of stages, or use interleaved_1f1b, looped_bfs or "
                        "interleaved_zb, which take any number");
  }
  constexpr double mostPasses = 1 << 22; // bounds memory
  if (double(sizes.ranks) * sizes.stagesPerRank * sizes.microbatches > mostPasses)
    throw ScheduleError(
        "a schedule has at most 4,194,304 forward passes: ranks times stages a rank "
        "times microbatches",
        "take fewer microbatches");
  return algorithm.generate(sizes);
}

} // namespace titan::schedule
