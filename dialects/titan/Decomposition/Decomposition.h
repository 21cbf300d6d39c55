//===- Decomposition.h - Composite operations as simpler ones ----*- C++ -*-===//
//
// An operation with its own kernel (dialects/titan/IR/NeuralOps.td) is also defined by simpler
// operations. Its kernels, gradient and sharding rule are tested against the definition. A target
// or tool without the kernel uses the definition instead.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_DECOMPOSITION_DECOMPOSITION_H
#define TITAN_DIALECTS_TITAN_DECOMPOSITION_DECOMPOSITION_H

#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "mlir/Pass/Pass.h"

namespace titan::ir {

/// Attaches the models of DecomposableOpInterface.
void registerDecompositions(mlir::DialectRegistry &registry);
void attachAttentionDecomposition(mlir::MLIRContext &context);
void attachRotaryDecomposition(mlir::MLIRContext &context);

/// `--titan-decompose`: replaces every operation with DecomposableOpInterface by its definition.
/// For programs of the model phase: gradients of composites are not decomposed, but the gradient of
/// the definition is equal.
///
/// Input: `%r = titan.rotary %x along "seq" dim "head" {theta = 1.0e+04} : T -> T`
/// Output: angles from `titan.iota`, their cosines and sines, two halves by `titan.split` and
/// `titan.slice`, products and sums, joined by `titan.pad` and `titan.merge`.
///
/// Fails if an operation has a sharding already.
std::unique_ptr<mlir::Pass> createDecomposePass();

void registerDecomposePass();

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_DECOMPOSITION_DECOMPOSITION_H
