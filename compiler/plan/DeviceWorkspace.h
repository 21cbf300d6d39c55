// Memory that LibTorch allocates on a CUDA device during one operation.
#pragma once

#include "dialects/dist/IR/DistOps.h"
#include "mlir/IR/Operation.h"

namespace titan::plan {

/// Bytes for flash attention, at most, on any device (base/kernels/FlashWorkspace.h); 0 for other
/// operations, and for attention that never uses it (docs/rationale/kernels.md).
int64_t getFlashWorkspace(mlir::Operation *op, const dist::Degrees &degrees);

} // namespace titan::plan
