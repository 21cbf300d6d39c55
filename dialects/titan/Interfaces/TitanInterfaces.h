//===- TitanInterfaces.h - What the compiler asks of operations -*- C++ -*-===//
//
// Interfaces of operations and the plain data they exchange. See TitanInterfaces.td.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_INTERFACES_TITANINTERFACES_H
#define TITAN_DIALECTS_TITAN_INTERFACES_TITANINTERFACES_H

#include "dialects/dist/Analysis/ShardingRule.h"
#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/IR/Titan.h"

namespace titan::ir {

/// A tensor on the host: a rank's local part, row-major, every element type held as double (exact
/// for f64, f32, bf16, booleans and integers below 2^53).
struct HostTensor {
  llvm::SmallVector<int64_t> shape;
  std::vector<double> data;
};

/// Where a rank stands: answers, for a dimension of a value, the global index at which the rank's
/// part starts (0 when the dimension is not split).
class ShardOffsets {
public:
  virtual ~ShardOffsets() = default;
  virtual int64_t getOffset(NamedTensorType type, int64_t dim) const = 0;
};

} // namespace titan::ir

#include "dialects/titan/Interfaces/TitanInterfaces.h.inc"

#endif // TITAN_DIALECTS_TITAN_INTERFACES_TITANINTERFACES_H
