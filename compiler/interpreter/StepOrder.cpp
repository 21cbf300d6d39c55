// The fragments that a rank runs in a step.

#include "compiler/interpreter/StepOrder.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;

FailureOr<StepOrder> StepOrder::get(func::FuncOp declaration, const RankMesh &mesh) {
  dist::PipelineOp pipeline = dist::PipelineOp::lookup(declaration);
  if (!pipeline)
    return declaration.emitError("is cut into fragments, but the module has no dist.pipeline");
  const pipeline::Pipeline table = dist::describePipeline(declaration, pipeline);
  StepOrder order(dist::getFragments(declaration), pipeline, mesh);
  try {
    order.schedule = pipeline::buildSchedule(table, mesh.getDegrees().lookup(pipeline.getAxis()),
                                             static_cast<int64_t>(pipeline.getMicrobatches()));
    order.calls = pipeline::orderStep(table, order.schedule);
  } catch (const schedule::ScheduleError &error) {
    return pipeline.emitError(error.what()) << "; " << error.remedy;
  } catch (const Fault &fault) {
    return declaration.emitError(fault.what());
  }
  return order;
}

int64_t StepOrder::getRankOfStage(int64_t rank, int64_t stage) const {
  ArrayAttr axes = Builder(pipeline.getContext()).getStrArrayAttr({pipeline.getAxis()});
  return mesh->getGroup(rank, axes)[schedule.getRankOfStage(static_cast<int>(stage))];
}

std::vector<FragmentCall> StepOrder::getCalls(int64_t rank) const {
  std::vector<FragmentCall> result;
  for (const pipeline::FragmentCall &call : calls[mesh->getCoordinate(rank, pipeline.getAxis())])
    result.push_back({fragments[call.fragment], call.microbatch});
  return result;
}
