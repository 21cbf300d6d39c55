// Registration with MLIR tools.

#include "dialects/registration/RegisterAll.h"
#include "dialects/dist/IR/DistOps.h"
#include "dialects/dist/Transforms/Overlap/Passes.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/titan/Cost/Cost.h"
#include "dialects/titan/Decomposition/Decomposition.h"
#include "dialects/titan/Differentiation/Differentiation.h"
#include "dialects/titan/Evaluation/Evaluation.h"
#include "dialects/titan/IR/Titan.h"
#include "dialects/titan/Kernels/Kernels.h"
#include "dialects/titan/Onnx/OnnxModels.h"
#include "dialects/titan/ShardingRules/ShardingRules.h"
#include "dialects/titan/Transforms/Fusion/Passes.h"
#include "dialects/titan/Transforms/Gradient/Passes.h"
#include "dialects/titan/Transforms/Memory/Passes.h"
#include "dialects/titan/Transforms/Model/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

void titan::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::func::FuncDialect, ir::TitanDialect, dist::DistDialect>();
  ir::registerScalarModels(registry);
  ir::registerScratchModels(registry);
  ir::registerVjpModels(registry);
  ir::registerDecompositions(registry);
  ir::registerEvaluationModels(registry);
  ir::registerCostModels(registry);
  ir::registerShardingRules(registry);
  onnx::registerOnnxModels(registry);
}

void titan::registerPasses() {
  ir::registerCostPasses();
  ir::registerModelPasses();
  ir::registerDecomposePass();
  ir::registerGradientPasses();
  dist::registerShardPhase();
  fusion::registerFusionPasses();
  dist::registerOverlapPhase();
  memory::registerMemoryPasses();
}
