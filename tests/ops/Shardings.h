// Enumerates the shardings of an operation.
//
// On each mesh axis one of these happens: nothing; a factor is sharded; the operands of one linear
// set are partial sums; all operands have flat storage. The shardings of operands and results are
// derived here independently of the compiler's own code.
#pragma once

#include "dialects/dist/Transforms/Shard/MeshView.h"
#include "tests/ops/Case.h"

namespace titan::ops {

/// The types of operands and results with their shardings.
struct OpSharding {
  std::vector<ir::NamedTensorType> operands, results;
};

/// All combinations of choices for the axes of `mesh`, for the operation of case `c`.
std::vector<OpSharding> enumerateShardings(const Case &c, const dist::ShardingRule &rule,
                                           const dist::MeshView &mesh);

} // namespace titan::ops
