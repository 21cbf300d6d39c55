// A training step: one program function, or the turns of the step, one after the other. Each turn
// is a training step of its losses: it reads the step's samples and updates its parameters, which
// the next turn reads.
#pragma once

#include "data/BatchReader.h"
#include "metrics/Metrics.h"
#include "state/Executor.h"

#include <optional>
#include <string>
#include <vector>

namespace titan::rt {

/// The functions of training steps.
std::vector<std::string> trainFunctions(const Program &program);

class TrainStep {
public:
  explicit TrainStep(Executor &executor);

  /// The inputs of all functions, each once.
  const std::vector<InputSpec> &inputs() const { return specs; }
  /// Before the first step: see Executor::prepare.
  void prepare();
  /// Starts step `step`: `load` and `run` act on its first turn.
  void begin(int64_t step);
  /// Whether a turn of the step is left to run.
  bool isLeft() const { return next < turns.size(); }
  /// Memory for a batch: the inputs of all turns, one turn after the other.
  Batch makeBatch() const;
  /// Reads the global batch that starts at this sample, possibly in another thread.
  void read(const DataSource &data, int64_t firstSample, Batch &batch) const;
  /// The index in `inputs` of the first one of which this rank's part is not finite; their number
  /// if there is none.
  size_t findNonFiniteInput(const Batch &batch) const;
  /// Copies a batch into the inputs of the next turn. Reads the scalars of the turn before, whose
  /// memory the inputs may overwrite.
  void load(const Batch &batch);
  /// Runs the next turn.
  void run();
  /// Whether every turn has run at least once.
  bool hasRunAll() const;

  // The results of the latest step. Valid until another function runs. On CPUs, loss and norm
  // allocate nothing if the step has one turn.
  double loss() const; ///< the sum over turns
  double norm() const; ///< of the gradients of all turns together
  NamedNumbers losses() const;
  NamedNumbers metrics() const; ///< as the last turn computes them
  NamedNumbers norms() const;   ///< of each turn by the name of its losses; empty without turns
  /// The maximum over ranks; of a program without turns. Collective.
  std::optional<double> maxLoss();

private:
  /// A scalar output of a function; null if the function has none.
  struct Scalar {
    const Tensor *tensor;
    const std::byte *data;
  };
  /// The outputs of a turn.
  struct Result {
    double loss, norm;
    NamedNumbers losses;
  };
  struct TurnState {
    std::string function;
    Turn when;
    BatchReader reader;
    size_t firstInput; ///< in a batch
    Scalar loss, norm;
    bool hasRun = false;
    std::optional<Result> result = {}; ///< of this step, once another turn follows
  };
  Scalar findOutput(const char *name, const std::string &function) const;
  double readScalar(const Scalar &scalar, const std::string &function) const;
  /// Moves `next` to the first turn from `index` on that runs in this step.
  void moveTo(size_t index);
  /// Visits the turns of the step that have run. `result` has their outputs; those of the latest
  /// turn are still in the arena.
  template <typename Visit> void forEachTurnOfStep(Visit visit) const;

  Executor &executor;
  std::vector<InputSpec> specs;
  std::vector<TurnState> turns;
  static constexpr size_t none = static_cast<size_t>(-1);
  size_t next = 0;      // turn to run
  size_t latest = none; // turn whose outputs are still in the arena
  int64_t step = 0;
};

} // namespace titan::rt
