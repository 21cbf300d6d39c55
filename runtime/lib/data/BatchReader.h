// Moves samples of the data to where a function of the program expects them: this rank's part of
// its inputs `tokens` and `labels`. What part that is, is found out once, so that a step only
// copies.
#pragma once

#include "state/Executor.h"

#include "DataSource.h"

#include <string>
#include <vector>

namespace titan::rt {

class BatchReader {
public:
  BatchReader(Executor &executor, const std::string &function);

  /// Fills the inputs with the global batch that begins with this sample of the data's order.
  void load(const DataSource &data, int64_t firstSample);

private:
  struct Target {
    Feed feed;
    std::byte *memory;          ///< on the device
    int64_t elements;           ///< of this rank's part
    std::vector<ShardRun> runs; ///< `global` counts tokens of the batch
    std::vector<int64_t> copy;  ///< where the host cannot reach the device
  };
  Executor &executor;
  int64_t sequence;
  std::vector<Target> targets;
};

} // namespace titan::rt
