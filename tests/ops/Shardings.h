//===- Shardings.h - Every way in which an operation may be split -*- C++ -*-===//
//
// Enumerated from the operation's rule: on each mesh axis nothing happens, or a factor is split
// that may be, or the operands of one linear set are partial sums, or all lie flat. What follows
// for operands and results is stated here anew, apart from the compiler's own reading of rules.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_TESTS_OPS_SHARDINGS_H
#define TITAN_TESTS_OPS_SHARDINGS_H

#include "dialects/dist/Transforms/Shard/MeshView.h"
#include "tests/ops/Case.h"

namespace titan::ops {

struct OpSharding {
  std::vector<ir::NamedTensorType> operands, results;
};

/// All combinations of what the axes of `mesh` may do to the operation `op` of case `c`.
std::vector<OpSharding> enumerateShardings(const Case &c, const dist::ShardingRule &rule,
                                           const dist::MeshView &mesh);

} // namespace titan::ops

#endif // TITAN_TESTS_OPS_SHARDINGS_H
