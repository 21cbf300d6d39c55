#include "compiler/plan/StageReport.h"

#include "base/pipeline/StepOrder.h"
#include "compiler/plan/LineReport.h"

using namespace mlir;

namespace titan::plan {

static double countFlops(func::FuncOp function, const dist::Degrees &degrees) {
  double flops = 0;
  for (const LineCost &line : reportLines({{function, 1}}, degrees))
    flops += line.flops;
  return flops;
}

/// The count of a stage to which fragments of this kind belong; null for those that run once per
/// step.
static double StageReport::*findCount(dist::FragmentKind kind) {
  switch (kind) {
  case dist::FragmentKind::Forward:
    return &StageReport::forward;
  case dist::FragmentKind::Backward:
    return &StageReport::dgrad;
  case dist::FragmentKind::Wgrad:
    return &StageReport::wgrad;
  default:
    return nullptr;
  }
}

/// @train or its turns, if they are fragments.
static SmallVector<func::FuncOp> findTrainPrograms(ModuleOp module) {
  SmallVector<func::FuncOp> programs;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(dist::kFragmentsAttr) &&
        (function.getName() == "train" || function->hasAttr(ir::attr::kTurn)))
      programs.push_back(function);
  return programs;
}

std::optional<PipelineReport> reportPipeline(ModuleOp module, const dist::Degrees &degrees) {
  dist::PipelineOp op = dist::PipelineOp::lookup(module);
  const SmallVector<func::FuncOp> programs = findTrainPrograms(module);
  if (!op || programs.empty())
    return std::nullopt;
  const pipeline::Pipeline pipeline = dist::describePipeline(programs.front(), op);
  PipelineReport report{
      pipeline::buildSchedule(pipeline, degrees.lookup(op.getAxis()), pipeline.microbatches), {}};
  for (int64_t layers : op.getLayersPerStage())
    report.stages.push_back({layers});
  for (func::FuncOp program : programs)
    for (func::FuncOp fragment : dist::getFragments(program)) {
      auto attribute = fragment->getAttrOfType<dist::FragmentAttr>(dist::kFragmentAttr);
      if (double StageReport::*count = findCount(attribute.getKind()))
        report.stages[attribute.getStage()].*count += countFlops(fragment, degrees);
    }
  return report;
}

} // namespace titan::plan
