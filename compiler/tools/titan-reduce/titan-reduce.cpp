// titan-reduce: MLIR's reducer with Titan's dialects, passes and phases. It shrinks a module for as
// long as a script still finds it interesting.

#include "compiler/pipelines/Phases.h"
#include "dialects/registration/RegisterAll.h"

#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  static std::vector<titan::pipelines::Insertion> none;
  titan::registerPasses();
  titan::pipelines::registerPhasePipelines(none);
  mlir::registerTransformsPasses();
  mlir::DialectRegistry registry;
  titan::registerDialects(registry);
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
