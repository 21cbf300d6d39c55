// Folding and canonicalization.
//
// Greedy application of all folders and canonicalization patterns of the loaded dialects. Regions
// keep their blocks and arguments: those of a repeat follow from its operands and results.
#pragma once

#include <memory>

namespace mlir {
class Operation;
class Pass;
} // namespace mlir

namespace titan::ir {

/// Canonicalizes the regions of `op`.
void canonicalize(mlir::Operation *op);

/// The pass `canonicalize` with the same configuration.
std::unique_ptr<mlir::Pass> createCanonicalizePass();

} // namespace titan::ir
