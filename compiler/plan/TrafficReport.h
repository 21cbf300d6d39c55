// What one rank sends in a training step: collectives, and the messages of its pipeline. Ranks of
// different stages send different numbers of bytes.
#pragma once

#include "base/pipeline/Pipelines.h"
#include "dialects/dist/Analysis/CollectiveReport.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace titan::plan {

struct TrafficReport {
  std::vector<dist::CollectiveUse> uses; ///< collectives, then messages to other stages
  int64_t getBytesSent() const;
  /// Bytes that the rank sends over any of these axes.
  int64_t getBytesSent(const std::vector<std::string> &axes) const;
};

/// The traffic of each of `ranks` (planRanks).
std::vector<TrafficReport> reportTraffic(mlir::ModuleOp module, const dist::Degrees &degrees,
                                         const std::vector<pipeline::Pipelines> &ranks);

} // namespace titan::plan
