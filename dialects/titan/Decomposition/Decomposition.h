// Composite operations as simpler ones.
//
// An operation with its own kernel (dialects/titan/IR/NeuralOps.td) is also defined by simpler
// operations. Its kernels, gradient and sharding rule are tested against the definition. A target
// or tool without the kernel uses the definition instead.
#pragma once

#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace titan::ir {

/// Attaches the models of DecomposableOpInterface.
void registerDecompositions(mlir::DialectRegistry &registry);
void attachAttentionDecomposition(mlir::MLIRContext &context);
void attachRotaryDecomposition(mlir::MLIRContext &context);
void attachGroupedDecomposition(mlir::MLIRContext &context);

#define GEN_PASS_DECL
#include "dialects/titan/Decomposition/Passes.h.inc"

/// Registers `--titan-decompose`.
void registerDecomposePass();

} // namespace titan::ir
