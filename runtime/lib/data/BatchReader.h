// Reads data samples as inputs of a program function: this rank's shards of them. The shards are
// computed once, so a step only copies. Reading changes no memory of the program, so another thread
// may read the next batch while the program runs (BackgroundReader.h).
#pragma once

#include "state/Executor.h"

#include "BackgroundReader.h"
#include "DataSource.h"

#include <limits>
#include <span>
#include <string>
#include <vector>

namespace titan::rt {

/// The inputs of a function of the program, in the order of its table.
std::vector<InputSpec> getInputSpecs(const Program &program, const std::string &function);

class BatchReader {
public:
  /// `opened` are the inputs with which the data were opened; they include those of the function.
  BatchReader(Executor &executor, const std::string &function,
              const std::vector<InputSpec> &opened);

  /// Memory for a batch: one vector for each input that this rank has.
  Batch makeBatch() const;
  /// Reads the global batch that starts at `firstSample`. Samples after `lastSample` are copies of
  /// it.
  void read(const DataSource &data, int64_t firstSample, std::span<std::vector<std::byte>> batch,
            int64_t lastSample = std::numeric_limits<int64_t>::max()) const;
  /// Copies a batch into the inputs.
  void load(std::span<const std::vector<std::byte>> batch);
  /// The number of inputs that this rank has.
  size_t countInputs() const { return targets.size(); }
  /// The number of one of them among the opened inputs.
  size_t getInput(size_t index) const { return targets[index].input; }

private:
  /// An input of the function that this rank has.
  struct Target {
    size_t input;               ///< its number among the opened ones
    int64_t perSample;          ///< elements of a sample
    std::byte *memory;          ///< on the device
    int64_t elements;           ///< of this rank's shard
    int64_t bytes;              ///< of an element
    std::vector<ShardRun> runs; ///< `global` counts elements of the batch; each is within a sample
  };
  Target makeTarget(const Tensor &tensor, size_t input) const;

  Executor &executor;
  std::vector<Target> targets;
};

} // namespace titan::rt
