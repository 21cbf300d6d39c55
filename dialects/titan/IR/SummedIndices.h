// Whether a grouped contraction sums over indices.
#pragma once

#include "dialects/titan/IR/Titan.h"

namespace titan::ir {

/// Whether each row of the result is a sum over several indices.
bool sumsIndices(GroupedContractOp op);

} // namespace titan::ir
