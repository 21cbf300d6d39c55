// The layout of every tensor with a name: parameters as they are used and as they are stored, and
// values with a sharding constraint. Also lists the conflicts between axis rules. Computed before
// the shard phase.
#pragma once

#include "dialects/dist/Transforms/Shard/ConflictReport.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace titan::plan {

struct TensorLayout {
  std::string name; ///< the name that overrides use
  bool isParameter = false;
  std::vector<std::string> dims;
  std::vector<std::vector<std::string>> axes; ///< for each dimension, the axes that shard it
  std::vector<std::string> flat;              ///< axes that shard the flattened rest
  std::string file;
  unsigned line = 0;

  /// `[batch / shard, seq, ffn / tp]`, followed by `over shard` if it is stored in shards.
  std::string print() const;
};

struct ShardingReport {
  std::vector<TensorLayout> layouts; ///< parameters, then values in order
  std::vector<dist::ConflictUse> conflicts;
};

/// The report for the train programs, or for the first program if no train program exists.
ShardingReport reportSharding(mlir::ModuleOp beforeSharding);

} // namespace titan::plan
