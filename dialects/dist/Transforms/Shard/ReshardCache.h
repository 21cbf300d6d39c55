//===- ReshardCache.h - One reshard for all uses of a layout ----*- C++ -*-===//
//
// Creates reshards while a function is walked in program order. A reshard stands in the block that
// defines its value, before the first operation there that needs it (also on behalf of nested
// operations), so it dominates every later need of the same layout and serves it too.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_RESHARDCACHE_H
#define TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_RESHARDCACHE_H

#include "dialects/dist/IR/DistOps.h"

namespace titan::dist {

class ReshardCache {
public:
  /// `value` laid out as `sharding`, for use by `user` or operations inside of it.
  mlir::Value get(mlir::Value value, ShardingAttr sharding, mlir::Operation *user);

  /// Makes all uses of `value` see it as `sharding`.
  void replaceAllUses(mlir::Value value, ShardingAttr sharding);

  /// Lets reshards of reshards start from the first value where nothing else uses the second, and
  /// removes what changes nothing or has no use.
  void simplify();

private:
  llvm::DenseMap<std::pair<mlir::Value, mlir::Attribute>, mlir::Value> made;
  llvm::SmallVector<ReshardOp> reshards; ///< in order of creation
};

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_RESHARDCACHE_H
