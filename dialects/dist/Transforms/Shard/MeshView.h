//===- MeshView.h - The mesh and its map as the shard phase sees them -*- C++ -*-===//
//
// The axes of a module in a form that plain algorithms take, and the way between shardings in types
// and places per axis. Axes of degree 1 do not occur: a sharding never names them. Without a mesh
// there are no axes, and every sharding is the replicated one.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_MESHVIEW_H
#define TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_MESHVIEW_H

#include "dialects/dist/Analysis/CollectivePlan.h"
#include "dialects/dist/Analysis/FactorPropagation.h"
#include "dialects/dist/IR/DistOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace titan::dist {

/// Where a tensor has each axis, and from which dimension flat storage starts.
struct ShardingByAxis {
  std::vector<int> dimOfAxis; ///< per axis: a dimension, kReplicated, kFlat or kPartial
  int flatFrom = 0;
  ReductionKind kind = ReductionKind::Sum; ///< of the partial axes
};

class MeshView {
public:
  /// Reads mesh and maps of `module`; fails with a diagnostic if two maps speak of one axis.
  static mlir::FailureOr<MeshView> get(mlir::ModuleOp module);

  /// Outer to inner. `preference` is what the axis's map lists: splits, then otherwise.
  const std::vector<AxisInfo> &getAxes() const { return axes; }
  size_t getNumAxes() const { return axes.size(); }
  /// The axis's map, or null.
  AxisRulesOp getRules(size_t axis) const { return rules[axis]; }

  ShardingByAxis getReplicated() const { return {std::vector<int>(axes.size(), kReplicated)}; }
  ShardingByAxis getByAxis(ShardingAttr sharding) const;
  ShardingAttr getSharding(int64_t rank, const ShardingByAxis &byAxis) const;

  /// The same with lists in the order in which the sharding names them.
  ShardingByDim getByDim(ShardingAttr sharding) const;
  ShardingAttr getSharding(const ShardingByDim &byDim, ReductionKind kind) const;
  mlir::ArrayAttr getNames(llvm::ArrayRef<int> axes) const;

  /// Whether the flat storage of `type` is known to need no padding, so that a chunk cut further by
  /// the next axis is the chunk of both axes. Storage cut by one axis at most is even in that
  /// sense.
  bool isFlatEven(ir::NamedTensorType type) const;
  /// Of the axis with this name among those that split something; -1 for others.
  int getIndex(mlir::Attribute name) const;

private:
  std::vector<int> getIndices(mlir::ArrayAttr names) const;

  mlir::MLIRContext *context = nullptr;
  std::vector<AxisInfo> axes;
  std::vector<AxisRulesOp> rules;
};

/// Runs `visit` on every function of `module` that has a body, with the module's mesh.
mlir::LogicalResult forEachFunction(
    mlir::ModuleOp module,
    llvm::function_ref<mlir::LogicalResult(mlir::func::FuncOp, const MeshView &)> visit);

/// How a value lies: the sharding of its type, replicated if that names none.
ShardingAttr getShardingOf(mlir::Value value);

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_MESHVIEW_H
