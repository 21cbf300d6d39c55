//===- titan-opt.cpp - Runs passes on textual IR --------------------------===//

#include "dialects/registration/RegisterAll.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  titan::registerDialects(registry);
  titan::registerPasses();
  mlir::registerTransformsPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Titan's optimizer driver\n", registry));
}
