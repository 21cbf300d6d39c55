// Costs of a run derived from its compiled program: arithmetic, memory and communication.
#pragma once

#include "base/prediction/StepTime.h"
#include "compiler/driver/CompilerInstance.h"
#include "compiler/driver/MeshReport.h"
#include "compiler/emission/EmitCpp.h"
#include "compiler/plan/AttentionBalance.h"
#include "compiler/plan/LineReport.h"
#include "compiler/plan/MemoryReport.h"
#include "compiler/plan/ShardingReport.h"
#include "compiler/plan/StageReport.h"
#include "compiler/plan/TrafficReport.h"

#include "llvm/Support/JSON.h"

namespace titan::driver {

/// The predicted time of a step on a machine.
struct Prediction {
  Machine machine;
  double memory = 0; ///< bytes of a rank
  StepTime time;     ///< of RunSummary::step
  Utilisation utilisation;
};

struct RunSummary {
  int64_t ranks = 1;
  plan::Processor processor; ///< of a rank: threads of the CPU, or a CUDA device
  double flopsPerToken = 0;  ///< executed, forward and backward; total of all ranks
  /// The model as written, by TorchTitan's convention (dialects/titan/Cost/Cost.h).
  double modelFlopsPerToken = 0;
  /// Why generation computes whole texts for every token (`titan.uncached`); empty: it does not.
  std::string uncached;
  plan::MemoryReport memory; ///< of the rank that needs most
  /// Bytes at most, in memory of the host and beyond `memory`, for the copy of the tensors that
  /// `checkpoint.mode = async` saves.
  int64_t checkpointStaging = 0;
  /// One per rank along the axis of a pipeline.
  std::vector<plan::MemoryReport> memoryOfStages;
  std::vector<AxisReport> mesh; ///< its axes, outer to inner
  std::optional<plan::PipelineReport> pipeline;
  /// Of a training step: one per rank along the axis of a pipeline, else one.
  std::vector<plan::TrafficReport> traffic;
  std::vector<plan::AttentionBalance> attention; ///< of the step, where positions are sharded
  std::vector<plan::LineCost> lines; ///< of a training step, on the rank that computes most
  plan::ShardingReport sharding;     ///< of parameters and constrained values
  StepProgram step;
  std::optional<Prediction> prediction; ///< if a machine is selected
  /// The rank along the axis of a pipeline that sends most bytes.
  size_t findBusiestRank() const;
};

/// Runs all phases. `processes` fixes the `auto` degree; 0 threads mean an equal share of this
/// machine per rank. Nothing after an error.
std::optional<RunSummary> makeRunSummary(CompilerInstance &instance, const sema::CheckedRun &run,
                                         int64_t processes, int64_t threads,
                                         emission::Target target = emission::Target::Cpu);

/// 1,234,567.
std::string groupDigits(int64_t number);

/// `layers.{l}.wq`: one name for the same parameter of all layers.
std::string makePublicName(const sema::Parameter &parameter);

/// The padded dimensions with their padded sizes.
std::vector<std::pair<const sema::Dim *, int64_t>> findPaddedDims(const sema::CheckedRun &run);

/// The summary as text and as JSON, on standard output.
void printText(const sema::CheckedRun &run, const RunSummary &summary, bool allGroups);
void printJson(const sema::CheckedRun &run, const RunSummary &summary, bool allGroups);

/// The matrices that optimizers of matrices see: of all parameters as a table, of one as JSON.
void printMatrices(llvm::raw_ostream &out, const sema::CheckedRun &run);
std::optional<llvm::json::Object> matrixJson(const sema::CheckedRun &run, size_t parameter);

/// The memory of a rank, as a table and as JSON.
void printMemory(llvm::raw_ostream &out, const RunSummary &summary);
llvm::json::Object memoryJson(const RunSummary &summary);

/// The arithmetic of the stages, as a table and as JSON.
void printStages(llvm::raw_ostream &out, const plan::PipelineReport &pipeline);
llvm::json::Array stagesJson(const RunSummary &summary);

/// The predicted time of a step, as text and as JSON. Requires a prediction.
void printPrediction(llvm::raw_ostream &out, const RunSummary &summary);
llvm::json::Object predictionJson(const RunSummary &summary);

/// The costs of the source lines, as a table with the text of each line, and as JSON.
void printLines(llvm::raw_ostream &out, const RunSummary &summary, const SourceManager &sources);
llvm::json::Array linesJson(const RunSummary &summary);

} // namespace titan::driver
