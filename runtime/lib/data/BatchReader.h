// Reads data samples as inputs of a program function: this rank's shards of them. The shards are
// computed once, so a step only copies. Reading changes no memory of the program, so another thread
// may read the next batch while the program runs (BackgroundReader.h).
#pragma once

#include "state/Executor.h"

#include "BackgroundReader.h"
#include "DataSource.h"

#include <string>
#include <vector>

namespace titan::rt {

/// The inputs of a function of the program, in the order of its table.
std::vector<InputSpec> inputsOf(const Program &program, const std::string &function);

class BatchReader {
public:
  BatchReader(Executor &executor, const std::string &function);

  /// Memory for a batch.
  Batch makeBatch() const;
  /// Reads the global batch that starts at this sample. `data` was opened for `inputsOf` the
  /// function.
  void read(const DataSource &data, int64_t firstSample, Batch &batch) const;
  /// Copies a batch into the inputs.
  void load(const Batch &batch);

private:
  struct Target {
    size_t input;               ///< its number in `inputsOf`
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
