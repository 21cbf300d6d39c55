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

  /// Adds the outputs of a batch, in the same order for all batches.
  void add(const NamedNumbers &outputs);
  /// The values over all batches so far; at least one batch has been added.
  EvaluationNumbers numbers() const;

private:
  const Program &program;
  NamedNumbers sums;
  int64_t batches = 0;
};

} // namespace titan::rt
