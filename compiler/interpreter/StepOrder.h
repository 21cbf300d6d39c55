//===- StepOrder.h - The fragments that a rank runs in a step ---*- C++ -*-===//

#ifndef TITAN_COMPILER_INTERPRETER_STEPORDER_H
#define TITAN_COMPILER_INTERPRETER_STEPORDER_H

#include "compiler/interpreter/RankMesh.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::interpreter {

/// One execution of a fragment.
struct FragmentCall {
  mlir::func::FuncOp fragment;
  int64_t microbatch; ///< -1: the fragment runs once per step
};

/// The calls of each rank, in order. Without `dist.pipeline` every rank runs all fragments, one
/// microbatch after the other.
class StepOrder {
public:
  static mlir::FailureOr<StepOrder> get(mlir::func::FuncOp declaration,
                                        llvm::ArrayRef<mlir::func::FuncOp> fragments,
                                        const RankMesh &mesh);

  std::vector<FragmentCall> getCalls(int64_t rank) const;
  /// The rank that runs `stage` and has all other coordinates of `rank`.
  int64_t getRankOfStage(int64_t rank, int64_t stage) const;
  int64_t getNumStages() const { return numStages; }

private:
  StepOrder(llvm::ArrayRef<mlir::func::FuncOp> fragments, const RankMesh &mesh)
      : fragments(fragments), mesh(&mesh) {}
  std::vector<FragmentCall> getSequentialCalls() const;

  std::vector<mlir::func::FuncOp> fragments;
  const RankMesh *mesh;
  int64_t numStages = 1, numMicrobatches = 1;
};

} // namespace titan::interpreter

#endif // TITAN_COMPILER_INTERPRETER_STEPORDER_H
