// The numbers of an evaluation from the outputs of its batches: means over batches, and functions
// of means (Program::evaluated).
#pragma once

#include "state/Executor.h"

#include "metrics/Metrics.h"

#include <cstdint>

namespace titan::rt {

class EvaluationOutputs {
public:
  explicit EvaluationOutputs(const Program &program) : program(program) {}

  /// Adds the outputs of a batch, in the same order for all batches. A batch of weight `w` counts
  /// as much as `w` batches. A last batch that is not full repeats its last sample; a batch of
  /// copies with a negative weight subtracts them.
  void add(const NamedNumbers &outputs, double weight = 1);
  /// The values over all batches so far, whose weights have a positive sum.
  EvaluationNumbers numbers() const;

private:
  const Program &program;
  NamedNumbers sums;
  double weights = 0; ///< of all batches
};

} // namespace titan::rt
