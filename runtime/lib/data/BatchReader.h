// Copies data samples into the inputs of a program function: this rank's shards of `tokens` and
// `labels`. The shards are computed once, so a step only copies.
#pragma once

#include "state/Executor.h"

#include "DataSource.h"

#include <string>
#include <vector>

namespace titan::rt {

class BatchReader {
public:
  BatchReader(Executor &executor, const std::string &function);

  /// Fills the inputs with the global batch that starts at this sample.
  void load(const DataSource &data, int64_t firstSample);

private:
  struct Target {
    Feed feed;
    std::byte *memory;          ///< on the device
    int64_t elements;           ///< of this rank's shard
    std::vector<ShardRun> runs; ///< `global` counts tokens of the batch
    std::vector<int64_t> copy;  ///< only if the host cannot access the device memory
  };
  Executor &executor;
  int64_t sequence;
  std::vector<Target> targets;
};

} // namespace titan::rt
