// How evenly the ranks that shard the positions of queries share the work of attention. Under a
// causal mask, later positions attend to more keys.
#pragma once

#include "dialects/dist/Analysis/SourceValue.h"
#include "dialects/dist/IR/DistOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <string>
#include <vector>

namespace titan::plan {

struct AttentionBalance {
  dist::SourceValue value;
  std::vector<std::string> axes; ///< the axes that shard the positions of queries, outer to inner
  /// The pairs of query and visible key on the rank with most of them, over the mean of all ranks.
  /// Documents are ignored, since they depend on data.
  double balance = 1;
};

/// The attentions of `function`, after the shard phase, whose positions of queries are sharded.
std::vector<AttentionBalance> reportAttentionBalance(mlir::FunctionOpInterface function,
                                                     const dist::Degrees &degrees);

} // namespace titan::plan
