// Shardings of one operation.
//
// Decides what each axis does to one operation (AxisAssignment.h), and hence the shardings of its
// operands and results. Inputs are the operands' shardings and the propagated preferences of the
// results.
#pragma once

#include "dialects/dist/Transforms/Shard/MeshView.h"

namespace titan::dist {

class OpShardingDecision {
public:
  /// `op` implements ShardingRuleOpInterface; its operands have their final types.
  OpShardingDecision(mlir::Operation *op, const MeshView &mesh);

  /// Reports attention whose heads an axis cannot shard instead of its positions.
  mlir::LogicalResult verify() const;

  /// The required sharding of an operand and the sharding of a result, partial axes included.
  ShardingAttr getOperandSharding(unsigned i) const;
  ShardingAttr getResultSharding(unsigned i) const;

private:
  void decide();
  /// In these functions, `a` is the index of an axis.
  void decideAxis(size_t a);
  bool movesToHeads(size_t a) const;
  AxisUse getUse(size_t a) const;
  void split(size_t a, const Factor &factor);
  void splitJointly(size_t a, const Factor &joint);
  void shardFlat(size_t a);
  ShardingAttr getSharding(mlir::Value value, const ShardingByAxis &byAxis) const;

  mlir::Operation *op;
  const MeshView &mesh;
  ShardingRule rule;
  ValueSizes sizes;
  std::vector<ShardingByAxis> have, wanted;      ///< given: of the operands, of the results
  std::vector<ShardingByAxis> operands, results; ///< decided
  std::vector<int64_t> degrees;                  ///< per factor, of the axes assigned so far
  std::vector<size_t> failedAxes;                ///< axes that cannot move to heads
};

} // namespace titan::dist
