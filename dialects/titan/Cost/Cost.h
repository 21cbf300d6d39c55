//===- Cost.h - Exact arithmetic of programs --------------------*- C++ -*-===//
//
// How many floating-point operations a program executes, from its operations' CostOpInterface.
// Counted on the global program behind the gradient phase, so recomputation and the backward are
// in, and the figure does not depend on the mesh. A multiply-add counts as two. Attention counts
// the scores that its mask lets through.
//
// Beside it stands the figure that papers and trainers compare by, which knows the model alone:
// TorchTitan's convention (`get_dense_model_nparams_and_flops`), after Chowdhery et al., "PaLM",
// appendix B. A token counts 6 for every parameter but the embedding's and, in every layer, 12 for
// every element of its query and every position of the sequence, whatever the mask.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_COST_COST_H
#define TITAN_DIALECTS_TITAN_COST_COST_H

#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace titan::ir {

/// Attaches the models of CostOpInterface.
void registerCostModels(mlir::DialectRegistry &registry);

/// Floating-point operations of one execution of `region` on one rank; a repeat's body counts as
/// often as it runs. Operations without a model (views, collectives) count nothing.
double countFlops(mlir::Region &region, const dist::Degrees &degrees);

/// By the convention above, for a function of the model phase. The embedding's parameters are
/// those of which nothing but rows are taken.
double countModelFlopsPerToken(mlir::func::FuncOp train, double tokens);

/// Notes on `module`, as `attribute`, what `count` gives for the program "train" and the tokens of
/// a step, batch x seq of `titan.sizes`. A module without sizes stays as it is.
void noteCount(mlir::ModuleOp module, llvm::StringRef attribute,
               llvm::function_ref<double(mlir::func::FuncOp train, double tokens)> count);

/// `--titan-count-flops`: notes `titan.flops_per_token` (f64) on the module: the operations of one
/// step of the program "train", divided by the tokens of `titan.sizes`.
///
/// Input: `module attributes {titan.sizes = {batch = 4 : i64, seq = 8 : i64, ...}} { func.func
/// @train ... }` Output: the same with `titan.flops_per_token = 1.6384e+04 : f64`.
std::unique_ptr<mlir::Pass> createCountFlopsPass();

/// `--titan-count-model-flops`: notes `titan.model_flops_per_token` (f64) on a module of the model
/// phase.
///
/// Input: `module attributes {titan.sizes = {batch = 4 : i64, seq = 8 : i64, ...}} { func.func
/// @train ... }` Output: the same with `titan.model_flops_per_token = 1.2e+04 : f64`.
std::unique_ptr<mlir::Pass> createCountModelFlopsPass();

void registerCostPasses();
void registerModelFlopsPass();

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_COST_COST_H
