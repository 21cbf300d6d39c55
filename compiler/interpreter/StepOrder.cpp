//===- StepOrder.cpp - The fragments that a rank runs in a step -----------===//

#include "compiler/interpreter/StepOrder.h"

#include "base/schedule/Generators.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;
using dist::FragmentKind;

static dist::FragmentAttr getFragment(func::FuncOp function) {
  return function->getAttrOfType<dist::FragmentAttr>(dist::kFragmentAttr);
}

/// The fragments of a compute action, in order.
static SmallVector<FragmentKind> getKinds(schedule::Kind kind) {
  switch (kind) {
  case schedule::Kind::Forward:
    return {FragmentKind::Forward};
  case schedule::Kind::Backward:
    return {FragmentKind::Backward, FragmentKind::Wgrad};
  case schedule::Kind::Dgrad:
    return {FragmentKind::Backward};
  case schedule::Kind::Wgrad:
    return {FragmentKind::Wgrad};
  default:
    return {};
  }
}

FailureOr<StepOrder> StepOrder::get(func::FuncOp declaration, const RankMesh &mesh) {
  dist::PipelineOp pipeline = dist::PipelineOp::lookup(declaration);
  if (!pipeline)
    return declaration.emitError("is cut into fragments, but the module has no dist.pipeline");
  const schedule::Algorithm *algorithm =
      schedule::findAlgorithm(std::string_view(pipeline.getSchedule()));
  if (!algorithm)
    return pipeline.emitError("there is no schedule ") << pipeline.getScheduleAttr();
  StepOrder order(dist::getFragments(declaration), pipeline, mesh);
  int64_t degree = mesh.getDegrees().lookup(pipeline.getAxis());
  try {
    order.schedule = schedule::generate(
        *algorithm, {static_cast<int>(degree), static_cast<int>(pipeline.getNumStages() / degree),
                     static_cast<int>(pipeline.getMicrobatches())});
  } catch (const schedule::ScheduleError &error) {
    return pipeline.emitError(error.what()) << "; " << error.remedy;
  }
  return order;
}

int64_t StepOrder::getRankOfStage(int64_t rank, int64_t stage) const {
  ArrayAttr axes = Builder(pipeline.getContext()).getStrArrayAttr({pipeline.getAxis()});
  return mesh->getGroup(rank, axes)[schedule.rankOfStage(static_cast<int>(stage))];
}

func::FuncOp StepOrder::find(FragmentKind kind, int64_t stage) const {
  for (func::FuncOp fragment : fragments)
    if (getFragment(fragment).getKind() == kind && getFragment(fragment).getStage() == stage)
      return fragment;
  return nullptr;
}

std::vector<FragmentCall> StepOrder::getCalls(int64_t rank) const {
  std::vector<FragmentCall> calls;
  auto appendAll = [&](FragmentKind kind) {
    for (func::FuncOp fragment : fragments)
      if (getFragment(fragment).getKind() == kind &&
          getRankOfStage(rank, getFragment(fragment).getStage()) == rank)
        calls.push_back({fragment, -1});
  };
  appendAll(FragmentKind::Begin);
  if (find(FragmentKind::Forward, 0)) {
    int64_t coordinate = mesh->getCoordinate(rank, pipeline.getAxis());
    for (const schedule::Action &action : schedule.ranks[coordinate])
      for (FragmentKind kind : getKinds(action.kind))
        if (func::FuncOp fragment = find(kind, action.stage))
          calls.push_back({fragment, action.microbatch});
  }
  appendAll(FragmentKind::Update);
  appendAll(FragmentKind::Evaluate);
  return calls;
}
