// Losses and metrics on held-out data. A set is read in file order, in batches of the training
// size. All numbers are those of the batches together: sums are averaged over batches, and
// quotients of sums are computed at the end (EvaluationOutputs.h). So they depend only on weights
// and data, on any mesh up to the order of sums.
//
// A last batch of fewer samples is filled with copies of the last sample. A further batch of such
// copies alone, with a negative weight, takes them away again. If an output is no sum over samples
// (Program::sumsOverSamples), such samples are not evaluated.
#pragma once

#include "data/BatchReader.h"
#include "data/Data.h"
#include "settings/Options.h"
#include "settings/Settings.h"

#include "metrics/Metrics.h"

#include <functional>
#include <optional>
#include <vector>

namespace titan::rt {

/// Of one set.
struct EvaluationResult {
  EvaluationNumbers numbers;
  int64_t samples = 0; ///< evaluated ones
  int64_t unread = 0;  ///< further samples of the set: beyond eval.batches, or too few for a batch
  int64_t tokens = 0;  ///< whose labels count in the loss
  double seconds = 0;
  int64_t slots = 0; ///< that were computed
};

class Evaluation {
public:
  /// The data sets are those of eval.data.path.
  Evaluation(Executor &executor, const Settings &settings);

  /// Steps between evaluations of a run; 0: never.
  int64_t every() const { return interval; }
  /// Evaluates each set in turn. Calls `isStopped` after every batch but the last, with equal
  /// answers on all ranks; returns nothing if stopped.
  std::optional<std::vector<EvaluationResult>> run(const std::function<bool()> &isStopped);

private:
  struct WeightedBatch {
    int64_t firstSample;
    int64_t samples; ///< that the batch adds to those of the evaluation; negative: takes away
  };
  std::vector<WeightedBatch> chooseBatches(const EvaluationSet &set) const;
  /// The samples of a set that all its batches evaluate: the first ones.
  int64_t countSamples(const EvaluationSet &set) const;
  std::optional<EvaluationResult> run(size_t set, const std::function<bool()> &isStopped);

  Executor &executor;
  int64_t interval;
  int64_t mostBatches; // of a set; 0: all
  std::vector<EvaluationSet> sets;
  std::vector<int64_t> labels; // of the evaluated samples of each set
  BatchReader reader;
  Batch memory;
};

/// Whether the program was compiled with an entry point for evaluation.
bool canEvaluate(Executor &executor);

/// `EXE eval`: prints losses, perplexity and metrics of --init-from's weights.
int evaluate(Executor &executor, const Options &options, const Settings &settings);

} // namespace titan::rt
