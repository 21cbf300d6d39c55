// The work of the kernel that an operation becomes: arithmetic and memory traffic on one rank.
#pragma once

#include "base/prediction/StepProgram.h"
#include "dialects/dist/IR/DistOps.h"

#include <optional>

namespace titan::plan {

/// Requires a module after the memory phase. Nothing for operations without a kernel: views,
/// constants, layers of stacks, collectives, terminators.
std::optional<KernelWork> countWork(mlir::Operation *op, const dist::Degrees &degrees);

} // namespace titan::plan
