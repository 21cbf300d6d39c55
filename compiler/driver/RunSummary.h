// What the compiler knows of a run before it runs, beyond what the source says: arithmetic, memory
// and communication, read off the compiled program.
#ifndef TITAN_COMPILER_DRIVER_RUNSUMMARY_H
#define TITAN_COMPILER_DRIVER_RUNSUMMARY_H

#include "compiler/driver/CompilerInstance.h"
#include "compiler/plan/LineReport.h"
#include "compiler/plan/MemoryReport.h"
#include "compiler/plan/ShardingReport.h"
#include "dialects/dist/Analysis/CollectiveReport.h"

#include "llvm/Support/JSON.h"

namespace titan::driver {

struct RunSummary {
  int64_t ranks = 1;
  plan::Processor processor; ///< of a rank
  double flopsPerToken = 0;  ///< executed, forward and backward; on all ranks together
  /// The model as written, by TorchTitan's convention (dialects/titan/Cost/Cost.h).
  double modelFlopsPerToken = 0;
  plan::MemoryReport memory;
  std::vector<dist::CollectiveUse> collectives; ///< of one training step
  std::vector<plan::LineCost> lines;            ///< of one training step, on one rank
  plan::ShardingReport sharding;                ///< of parameters and of what the map binds
};

/// Takes the run through all phases. `processes` fixes the `auto` degree; 0 threads stand for what
/// the ranks would take if they shared this machine. Nothing after an error.
std::optional<RunSummary> makeRunSummary(CompilerInstance &instance, const sema::CheckedRun &run,
                                         int64_t processes, int64_t threads);

/// 1,234,567.
std::string grouped(int64_t number);

/// `layers.{l}.wq`: one name for the same parameter of all layers.
std::string publicName(const sema::Parameter &parameter);

/// The dimensions that the map makes longer, and how long.
std::vector<std::pair<const sema::Dim *, int64_t>> paddedDims(const sema::CheckedRun &run);

/// All of it, as text and as JSON, on standard output.
void printText(const sema::CheckedRun &run, const RunSummary &summary);
void printJson(const sema::CheckedRun &run, const RunSummary &summary);

/// What a rank's memory holds, as a table and as JSON.
void printMemory(llvm::raw_ostream &out, const RunSummary &summary);
llvm::json::Object memoryJson(const RunSummary &summary);

/// The lines of the source and what they cost, as a table with the lines' text, and as JSON.
void printLines(llvm::raw_ostream &out, const RunSummary &summary, const SourceManager &sources);
llvm::json::Array linesJson(const RunSummary &summary);

} // namespace titan::driver

#endif
