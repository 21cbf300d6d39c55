// How the user's map lays every tensor that has a name (parameters as they are computed with and as
// they are stored, and the values that the map binds), and where that asks for two things at once.
// From the program before the shard phase.
#ifndef TITAN_COMPILER_PLAN_SHARDINGREPORT_H
#define TITAN_COMPILER_PLAN_SHARDINGREPORT_H

#include "dialects/dist/Transforms/Shard/ConflictReport.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace titan::plan {

struct TensorLayout {
  std::string name; ///< what an override of the map calls it
  bool isParameter = false;
  std::vector<std::string> dims;
  std::vector<std::vector<std::string>> axes; ///< for each dimension, those that split it
  std::vector<std::string> flat;              ///< axes that keep a share of what is left
  std::string file;
  unsigned line = 0;

  /// `[batch / shard, seq, ffn / tp]`, and where it is stored in shards, `over shard`.
  std::string print() const;
};

struct ShardingReport {
  std::vector<TensorLayout> layouts; ///< parameters, then values in order
  std::vector<dist::ConflictUse> conflicts;
};

/// Of the training program, or of the first where there is none.
ShardingReport reportSharding(mlir::ModuleOp beforeSharding);

} // namespace titan::plan

#endif
