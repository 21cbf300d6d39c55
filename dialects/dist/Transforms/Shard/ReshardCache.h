// One reshard per value and sharding.
//
// Creates reshards during a walk in program order. A reshard is in the block that defines its
// value, before the first operation there that uses it, itself or in a nested region. It thus
// dominates all later uses with the same sharding.
#pragma once

#include "dialects/dist/IR/DistOps.h"

namespace titan::dist {

class ReshardCache {
public:
  /// `value` with `sharding`, for use by `user` or inside of it.
  mlir::Value get(mlir::Value value, ShardingAttr sharding, mlir::Operation *user);

  /// Reshards `value` for all of its uses.
  void replaceAllUses(mlir::Value value, ShardingAttr sharding);

  /// Canonicalizes the reshards made.
  void simplify();

private:
  llvm::DenseMap<std::pair<mlir::Value, mlir::Attribute>, mlir::Value> made;
  llvm::SmallVector<ReshardOp> reshards; ///< in order of creation
};

} // namespace titan::dist
