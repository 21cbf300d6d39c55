//===- OpLayout.h - How one operation's operands and results lie -*- C++ -*-===//
//
// The decision for one operation, from the layouts that its operands have and the wishes that
// propagation left in its results' types: what each axis does (AxisAssignment.h), and the layouts
// that follow.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_OPLAYOUT_H
#define TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_OPLAYOUT_H

#include "dialects/dist/Transforms/Shard/MeshView.h"

namespace titan::dist {

class OpLayout {
public:
  /// `op` implements ShardingRuleOpInterface; its operands have their final types.
  OpLayout(mlir::Operation *op, const MeshView &mesh);

  /// What the operation needs of an operand, and what it gives, partial values included.
  ShardingAttr getOperandSharding(unsigned i) const;
  ShardingAttr getResultSharding(unsigned i) const;

private:
  void decide();
  AxisUse getUse(size_t a) const;
  void split(size_t a, const Factor &factor);
  void lieFlat(size_t a);
  ShardingAttr getSharding(mlir::Value value, const Places &places) const;

  mlir::Operation *op;
  const MeshView &mesh;
  ShardingRule rule;
  ValueSizes sizes;
  std::vector<Places> have, wanted, operands, results;
};

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_OPLAYOUT_H
