// The loss on data that a run does not learn from. A set is gone through in the order of its file,
// in batches of the training's size; a last one that is not full is left out. So the number is a
// function of weights, set and batch alone, on any mesh up to the order of sums.
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
  NamedLosses losses; ///< those with names
  /// Of the loss without a name, or of the only one; none where several have names and none has
  /// not.
  std::optional<double> perplexity;
  int64_t tokens = 0;
  double seconds = 0;
};

class Evaluation {
public:
  /// The set is eval.data.path.
  Evaluation(Executor &executor, const Settings &settings);

  /// Steps between evaluations of a run; 0: never.
  int64_t every() const { return interval; }
  /// Asks `isStopped` after every batch, which all ranks must answer alike; nothing where it ended
  /// the evaluation.
  std::optional<EvaluationResult> run(const std::function<bool()> &isStopped);

private:
  Executor &executor;
  int64_t interval;
  DataSource data;
  int64_t batches;
  BatchReader reader;
};

/// True if the program was compiled with an entry point for evaluation.
bool canEvaluate(Executor &executor);

/// `EXE eval`: prints loss and perplexity of --init-from's weights.
int evaluate(Executor &executor, const Options &options, const Settings &settings);

} // namespace titan::rt
