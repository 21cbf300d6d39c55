//===- TitanInterfaces.h - Interfaces of operations -------------*- C++ -*-===//
//
// The interfaces of TitanInterfaces.td and the plain data that they use.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_INTERFACES_TITANINTERFACES_H
#define TITAN_DIALECTS_TITAN_INTERFACES_TITANINTERFACES_H

#include "dialects/dist/Analysis/ShardingRule.h"
#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/IR/Titan.h"

namespace titan::ir {

/// A rank's shard of a tensor on the host, row-major. Elements of all types are doubles, which is
/// exact for f64, f32, bf16, booleans and integers below 2^53.
struct HostTensor {
  llvm::SmallVector<int64_t> shape;
  std::vector<double> data;
};

/// The shard offsets of one rank: the global index of the first element of its shard along a
/// dimension, 0 if the dimension is not sharded.
class ShardOffsets {
public:
  virtual ~ShardOffsets() = default;
  virtual int64_t getOffset(NamedTensorType type, int64_t dim) const = 0;
};

} // namespace titan::ir

#include "dialects/titan/Interfaces/TitanInterfaces.h.inc"

#endif // TITAN_DIALECTS_TITAN_INTERFACES_TITANINTERFACES_H
