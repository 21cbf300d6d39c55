// The fragments that a rank runs in a step.
#pragma once

#include "base/pipeline/StepOrder.h"
#include "compiler/interpreter/RankMesh.h"
#include "dialects/dist/IR/DistOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::interpreter {

/// One execution of a fragment.
struct FragmentCall {
  mlir::func::FuncOp fragment;
  int64_t microbatch; ///< -1: the fragment runs once per step
};

/// The calls of each rank, in the order of the module's `dist.pipeline`.
class StepOrder {
public:
  static mlir::FailureOr<StepOrder> get(mlir::func::FuncOp declaration, const RankMesh &mesh);

  std::vector<FragmentCall> getCalls(int64_t rank) const;
  /// The rank that runs `stage` and has all other coordinates of `rank`.
  int64_t getRankOfStage(int64_t rank, int64_t stage) const;
  int64_t getNumStages() const { return schedule.stages; }

private:
  StepOrder(llvm::ArrayRef<mlir::func::FuncOp> fragments, dist::PipelineOp pipeline,
            const RankMesh &mesh)
      : fragments(fragments), pipeline(pipeline), mesh(&mesh) {}

  std::vector<mlir::func::FuncOp> fragments;
  mutable dist::PipelineOp pipeline;
  const RankMesh *mesh;
  schedule::Schedule schedule;
  pipeline::StepOrder calls; ///< by coordinate along the axis of the pipeline
};

} // namespace titan::interpreter
