// Chooses the data set of each sample of a run that reads several sets by weight. The choice is a
// function of the weights and of the sample's number, without a table or a state, so one number
// suffices to resume.
//
// Set 0 takes sample g if floor(g w) grows there, where w is its fraction of all weights. The other
// sets divide the remaining samples, numbered from 0, in the same way. So each set has its fraction
// of the first g samples, up to one rounding per set. Only the order within a set is random.
// Fractions are multiples of 2^-32, so that the arithmetic is exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace titan::rt {

class MixtureOrder {
public:
  /// Positive weights; they need not add up to 1.
  explicit MixtureOrder(std::vector<double> weights);

  struct Choice {
    size_t set;
    int64_t sample; ///< the number of earlier samples of the run from this set
  };
  /// The choice for sample g >= 0 of the run.
  Choice operator()(int64_t g) const;
  /// How many of the first g samples each set has.
  std::vector<int64_t> counts(int64_t g) const;

private:
  std::vector<uint64_t> fractions; ///< of the samples that earlier sets leave, in units of 2^-32
};

} // namespace titan::rt
