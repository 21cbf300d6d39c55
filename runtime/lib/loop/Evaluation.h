// The loss on held-out data. The data set is read in file order, in batches of the training size,
// without a last partial batch. So the loss depends only on weights, data and batch size, on any
// mesh up to the order of sums.
#pragma once

#include "data/BatchReader.h"
#include "data/Data.h"
#include "settings/Options.h"
#include "settings/Settings.h"

#include "metrics/Metrics.h"

#include <functional>
#include <optional>

namespace titan::rt {

struct EvaluationResult {
  double loss = 0;
  NamedLosses losses; ///< named losses only
  /// From the unnamed loss, or the only loss; none if all of several losses are named.
  std::optional<double> perplexity;
  int64_t tokens = 0;
  double seconds = 0;
};

class Evaluation {
public:
  /// The data set is eval.data.path.
  Evaluation(Executor &executor, const Settings &settings);

  /// Steps between evaluations of a run; 0: never.
  int64_t every() const { return interval; }
  /// Calls `isStopped` after every batch, with equal answers on all ranks; returns nothing if
  /// stopped.
  std::optional<EvaluationResult> run(const std::function<bool()> &isStopped);

private:
  Executor &executor;
  int64_t interval;
  DataSource data;
  int64_t batches;
  BatchReader reader;
  Batch memory;
};

/// Whether the program was compiled with an entry point for evaluation.
bool canEvaluate(Executor &executor);

/// `EXE eval`: prints loss and perplexity of --init-from's weights.
int evaluate(Executor &executor, const Options &options, const Settings &settings);

} // namespace titan::rt
