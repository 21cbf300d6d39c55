// Attention to narrower keys and values, so that the caches of generation are smaller.
#pragma once

#include "dialects/titan/Transforms/Model/PositionChunks.h"

namespace titan::ir {

/// If keys and values are products of narrower rows and of weights, lets attention read the
/// narrower rows: the weights multiply its queries and its result instead, which is equal up to
/// rounding. In DeepSeek-V2 (2024, arXiv 2405.04434, section 2.1.2), queries absorb the weights of
/// keys. See docs/rationale/generation.md. Erases unused operations. Afterwards `chunks` does not
/// describe `function`.
void narrowCaches(mlir::func::FuncOp function, const PositionChunks &chunks);

} // namespace titan::ir
