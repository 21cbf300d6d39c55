// The stages of a training pipeline: their arithmetic, and the schedule by which ranks run them.
#pragma once

#include "base/schedule/Schedule.h"
#include "dialects/dist/IR/DistOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <vector>

namespace titan::plan {

/// The floating-point operations of a stage for one microbatch, on one of its ranks
/// (CostOpInterface). `dgrad` includes the weight gradients unless they are computed separately.
struct StageReport {
  int64_t layers = 0;
  double forward = 0, dgrad = 0, wgrad = 0;
  double getFlops() const { return forward + dgrad + wgrad; }
};

struct PipelineReport {
  schedule::Schedule schedule;
  std::vector<StageReport> stages;
};

/// The pipeline of the program "train", in a module after the shard phase; nothing if the program
/// has one stage. `degrees` has a number for every axis. If parameters take turns, the work of
/// stages is that of each turn once.
std::optional<PipelineReport> reportPipeline(mlir::ModuleOp module, const dist::Degrees &degrees);

} // namespace titan::plan
