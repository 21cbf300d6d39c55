//===- Decomposition.h - Composites by simpler operations -------*- C++ -*-===//
//
// An operation that is worth a kernel of its own (dialects/titan/IR/NeuralOps.td) is also defined
// by simpler operations. The definition is what its kernels, its gradient and its sharding rule are
// held to, and what remains of it for a target or a tool that has no such kernel.
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
/// For programs of the model phase: the gradient of a composite is not decomposed, but the gradient
/// of its definition is the same.
///
/// Input: `%r = titan.rotary %x along "seq" dim "head" {theta = 1.0e+04} : T -> T`
/// Output: angles from `titan.iota`, their cosines and sines, two halves by `titan.split` and
/// `titan.slice`, multiplied and added, and put together by `titan.pad` and `titan.merge`.
///
/// Fails where an operation lies on a mesh already.
std::unique_ptr<mlir::Pass> createDecomposePass();

void registerDecomposePass();

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_DECOMPOSITION_DECOMPOSITION_H
