//===- Fusion.h - The fuse phase --------------------------------*- C++ -*-===//
//
// Between two matrix products there are many elementwise operations and reductions. Executed one by
// one, each of them moves whole tensors through memory. The phase fuses operations over the same
// rows into one region.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_FUSION_FUSION_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_FUSION_FUSION_H

#include <memory>

namespace mlir {
class OpPassManager;
class Pass;
} // namespace mlir

namespace titan::fusion {

std::unique_ptr<mlir::Pass> createAddIntoPass();
std::unique_ptr<mlir::Pass> createRecomputeRowsPass();
std::unique_ptr<mlir::Pass> createFuseRowsPass();

void buildFusePhase(mlir::OpPassManager &passes);

void registerFusionPasses();

} // namespace titan::fusion

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_FUSION_FUSION_H
