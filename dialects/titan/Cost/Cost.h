// Exact FLOP counts of programs.
//
// The floating-point operations that a program executes, by CostOpInterface. They are counted on
// the global program after the gradient phase. The count therefore includes recomputation and the
// backward pass and does not depend on the mesh. A multiply-add counts as two. Attention counts the
// scores that its mask lets through.
//
// The model FLOPs, by which papers and trainers compare, depend only on the model: TorchTitan's
// convention (`get_dense_model_nparams_and_flops`), after Chowdhery et al., "PaLM", appendix B. A
// token counts 6 for every parameter outside the embedding. In every layer it also counts 12 for
// every element of its query and every position of the sequence, whatever the mask.
#pragma once

#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace titan::ir {

/// Attaches the models of CostOpInterface.
void registerCostModels(mlir::DialectRegistry &registry);

/// Floating-point operations of one execution of `region` on one rank. The body of a repeat counts
/// once per iteration. Operations without a model (views, collectives) count 0.
double countFlops(mlir::Region &region, const dist::Degrees &degrees);

/// Model FLOPs per token of a function of the model phase. A parameter counts as embedding if
/// operations only gather its rows.
double countModelFlopsPerToken(mlir::func::FuncOp train, double tokens);

/// Sets `attribute` (f64) on `module` to `count(train, tokens)` of its train program, where
/// `tokens` are those of a step: samples x positions of `titan.sizes`. If the module has several
/// turns, the value is the mean of their counts over the steps. Does not change a module without
/// sizes.
void setCountAttribute(mlir::ModuleOp module, llvm::StringRef attribute,
                       llvm::function_ref<double(mlir::func::FuncOp train, double tokens)> count);

#define GEN_PASS_DECL
#include "dialects/titan/Cost/Passes.h.inc"

void registerCostPasses();

} // namespace titan::ir
