// Mesh and axis rules as plain data.
//
// The axes of a module for algorithms on plain data, and conversions between sharding attributes
// and plain shardings. Axes of degree 1 are omitted, because no sharding names them. Without a mesh
// there are no axes, and every sharding is replicated.
#pragma once

#include "dialects/dist/Analysis/CollectivePlan.h"
#include "dialects/dist/Analysis/FactorPropagation.h"
#include "dialects/dist/IR/DistOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace titan::dist {

/// A sharding with one entry per axis.
struct ShardingByAxis {
  std::vector<int> dimOfAxis; ///< per axis: a dimension, kReplicated, kFlat or kPartial
  int flatFrom = 0;
  ReductionKind kind = ReductionKind::Sum; ///< of the partial axes
  std::vector<int> inner = {};             ///< axes that follow all others of their dimension
};

class MeshView {
public:
  /// Reads mesh and axis rules of `module`; reports an axis with two sets of rules.
  static mlir::FailureOr<MeshView> get(mlir::ModuleOp module);

  /// Outer to inner. `preference` has the axis rules' `shards`, then their `fallback`.
  const std::vector<AxisInfo> &getAxes() const { return axes; }
  size_t getNumAxes() const { return axes.size(); }
  /// The axis rules, or null.
  AxisRulesOp getRules(size_t axis) const { return rules[axis]; }

  ShardingByAxis getReplicated() const { return {std::vector<int>(axes.size(), kReplicated)}; }
  ShardingByAxis getByAxis(ShardingAttr sharding) const;
  ShardingAttr getSharding(int64_t rank, const ShardingByAxis &byAxis) const;

  /// The sharding with one list of axes per dimension, in the attribute's order.
  ShardingByDim getByDim(ShardingAttr sharding) const;
  ShardingAttr getSharding(const ShardingByDim &byDim, ReductionKind kind) const;
  mlir::ArrayAttr getNames(llvm::ArrayRef<int> axes) const;

  /// Whether the flat storage of `type` is known to have no padding, or has one axis at most. A
  /// chunk of a chunk is then the chunk of both axes.
  bool isFlatEven(ir::NamedTensorType type) const;
  /// The index of the axis of this name; -1 for axes of degree 1 and unknown ones.
  int getIndex(mlir::Attribute name) const;

private:
  std::vector<int> getIndices(mlir::ArrayAttr names) const;

  mlir::MLIRContext *context = nullptr;
  std::vector<AxisInfo> axes;
  std::vector<AxisRulesOp> rules;
};

/// Calls `visit` for `function` with the mesh of its module, if it has a body.
mlir::LogicalResult
visitWithMesh(mlir::func::FuncOp function,
              llvm::function_ref<mlir::LogicalResult(mlir::func::FuncOp, const MeshView &)> visit);

/// Calls `visit` for every function of `module` with a body, and with the module's mesh.
mlir::LogicalResult forEachFunction(
    mlir::ModuleOp module,
    llvm::function_ref<mlir::LogicalResult(mlir::func::FuncOp, const MeshView &)> visit);

/// The sharding of the value's type; replicated if the type has none.
ShardingAttr getSharding(mlir::Value value);

} // namespace titan::dist
