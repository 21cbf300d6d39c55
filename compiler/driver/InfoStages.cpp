// `titanc info` and `titanc schedule`: the stages of a pipeline.
#include "compiler/driver/RunSummary.h"
#include "compiler/driver/TextTable.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

namespace titan::driver {

void printStages(llvm::raw_ostream &out, const plan::PipelineReport &pipeline) {
  using Side = TextTable::Side;
  out << "\nfloating-point operations of a microbatch on a rank, by stage:\n";
  TextTable table({Side::Right, Side::Right, Side::Right, Side::Right, Side::Right, Side::Right});
  table.add({"stage", "rank", "layers", "forward", "backward", "of all"});
  double sum = 0;
  for (const plan::StageReport &stage : pipeline.stages)
    sum += stage.getFlops();
  for (auto [number, stage] : llvm::enumerate(pipeline.stages))
    table.add({std::to_string(number),
               std::to_string(pipeline.schedule.getRankOfStage(static_cast<int>(number))),
               std::to_string(stage.layers), groupDigits(std::llround(stage.forward)),
               groupDigits(std::llround(stage.dgrad + stage.wgrad)),
               llvm::formatv("{0:F1} %", sum > 0 ? 100 * stage.getFlops() / sum : 0.0).str()});
  table.print(out);
}

llvm::json::Array stagesJson(const RunSummary &summary) {
  llvm::json::Array stages;
  if (!summary.pipeline)
    return stages;
  for (auto [number, stage] : llvm::enumerate(summary.pipeline->stages))
    stages.push_back(llvm::json::Object{
        {"rank", summary.pipeline->schedule.getRankOfStage(static_cast<int>(number))},
        {"layers", stage.layers},
        {"forward_flops", stage.forward},
        {"backward_flops", stage.dgrad + stage.wgrad}});
  return stages;
}

} // namespace titan::driver
