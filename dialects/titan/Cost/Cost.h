//===- Cost.h - Exact arithmetic of programs --------------------*- C++ -*-===//
//
// How many floating-point operations a program executes, from its operations' CostOpInterface.
// Counted on the global program behind the gradient phase, so recomputation and the backward are
// in, and the figure does not depend on the mesh. A multiply-add counts as two. Attention counts
// the scores that its mask lets through; TorchTitan's convention counts all of them (metrics.py,
// `get_num_flops_per_token`), so its figure is higher on causal models.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_COST_COST_H
#define TITAN_DIALECTS_TITAN_COST_COST_H

#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "mlir/Pass/Pass.h"

namespace titan::ir {

/// Attaches the models of CostOpInterface.
void registerCostModels(mlir::DialectRegistry &registry);

/// Floating-point operations of one execution of `region` on one rank; a repeat's body counts as
/// often as it runs. Operations without a model (views, collectives) count nothing.
double countFlops(mlir::Region &region, const dist::Degrees &degrees);

/// `--titan-count-flops`: notes `titan.flops_per_token` (f64) on the module: the operations of one
/// step of the program "train", divided by the tokens of `titan.sizes`.
///
/// Input: `module attributes {titan.sizes = {batch = 4 : i64, seq = 8 : i64, ...}} { func.func
/// @train ... }` Output: the same with `titan.flops_per_token = 1.6384e+04 : f64`.
std::unique_ptr<mlir::Pass> createCountFlopsPass();
void registerCostPasses();

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_COST_COST_H
