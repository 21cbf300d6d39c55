// Attention to narrower keys and values.
#pragma once

#include "dialects/titan/Transforms/Model/PositionChunks.h"

namespace titan::ir {

/// Where keys and values are products of narrower rows and of weights, lets attention read the
/// narrower rows: the weights multiply its queries and its result instead, which is equal up to
/// rounding (docs/rationale/generation.md). Erases unused operations. Afterwards `chunks` does not
/// describe `function`.
void narrowCaches(mlir::func::FuncOp function, const PositionChunks &chunks);

} // namespace titan::ir
