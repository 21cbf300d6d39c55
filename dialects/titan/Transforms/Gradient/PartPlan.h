//===- PartPlan.h - Which values are computed in how many parts -*- C++ -*-===//
//
// Weighs what parts save against what they cost, by the sizes that values have on one rank as far
// as the maps to the machine say so.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_PARTPLAN_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_PARTPLAN_H

#include "dialects/titan/Transforms/Gradient/PartGroup.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::ir {

/// A group of operations, the dimension that is cut, and into how many parts.
struct PartPlan {
  PartGroup group;
  DimAttr dim;
  int64_t parts;
};

class PartPlanner {
public:
  /// `batch` is a dimension that will be cut by others; null for none.
  PartPlanner(mlir::func::FuncOp function, mlir::StringAttr batch);

  /// The dimension by which the largest value becomes smallest, if it has more than `minChunkBytes`
  /// bytes.
  std::optional<PartPlan> choose(int64_t minChunkBytes);
  /// So many parts, of the outermost dimension that can be cut into them.
  std::optional<PartPlan> find(int64_t parts);
  /// The dimensions that may be cut, outer ones first.
  llvm::ArrayRef<DimAttr> getCandidates() const { return dims; }
  /// Why there is nothing to find.
  const PartGroup::Obstacle &getObstacle() const { return obstacle; }

private:
  int64_t getNumElements(mlir::Value value) const;
  int64_t getBytes(mlir::Value value) const;
  bool mayCut(DimAttr dim, mlir::StringAttr batch);
  void findCandidates(mlir::StringAttr batch);
  int64_t chooseParts(const PartGroup &group, int64_t minChunkBytes) const;
  mlir::FailureOr<PartGroup> findGroup(DimAttr dim);
  mlir::FailureOr<PartGroup> findHead(DimAttr dim);

  mlir::func::FuncOp function;
  /// The dimensions that an axis splits, in the order of its map, and its degree; 0: chosen by the
  /// launch.
  struct Axis {
    llvm::SmallVector<mlir::StringAttr> splits;
    int64_t degree;
  };
  llvm::SmallVector<Axis> axes;
  llvm::SmallVector<DimAttr> dims; ///< candidates, outer ones first
  PartGroup::Obstacle obstacle;
};

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_PARTPLAN_H
