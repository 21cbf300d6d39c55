//===- OpShardingDecision.h - How one operation's operands and results lie -*- C++ -*-===//
//
// The decision for one operation, from the layouts that its operands have and the wishes that
// propagation left in its results' types: what each axis does (AxisAssignment.h), and the layouts
// that follow.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_OPSHARDINGDECISION_H
#define TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_OPSHARDINGDECISION_H

#include "dialects/dist/Transforms/Shard/MeshView.h"

namespace titan::dist {

class OpShardingDecision {
public:
  /// `op` implements ShardingRuleOpInterface; its operands have their final types.
  OpShardingDecision(mlir::Operation *op, const MeshView &mesh);

  /// What the operation needs of an operand, and what it gives, partial values included.
  ShardingAttr getOperandSharding(unsigned i) const;
  ShardingAttr getResultSharding(unsigned i) const;

private:
  void decide();
  AxisUse getUse(size_t a) const;
  void split(size_t a, const Factor &factor);
  void shardFlat(size_t a);
  ShardingAttr getSharding(mlir::Value value, const ShardingByAxis &byAxis) const;

  mlir::Operation *op;
  const MeshView &mesh;
  ShardingRule rule;
  ValueSizes sizes;
  std::vector<ShardingByAxis> have, wanted, operands, results;
};

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_OPSHARDINGDECISION_H
