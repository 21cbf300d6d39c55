// The data set of each sample of a run that reads several by weight. A function of the weights and
// of the number of the sample, without a table or a state, so that one number is the position.
//
// Set 0 takes sample g if floor(g w) grows there, where w is its fraction of all weights. The other
// sets divide the remaining samples, numbered from 0, in the same way. So each
// set has its fraction of the first g samples, up to one rounding per set; the order within a set
// alone is random. Shares are multiples of 2^-32, so that the arithmetic is exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace titan::rt {

class MixtureOrder {
public:
  /// Positive weights; they need not add up to 1.
  explicit MixtureOrder(const std::vector<double> &weights);

  struct Choice {
    size_t set;
    int64_t sample; ///< how many samples of the set come before
  };
  /// Sample g >= 0 of the run.
  Choice operator()(int64_t g) const;
  /// How many of the first g samples each set has.
  std::vector<int64_t> counts(int64_t g) const;

private:
  std::vector<uint64_t> fractions; ///< of what the sets before leave, in units of 2^-32
};

} // namespace titan::rt
