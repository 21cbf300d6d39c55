// titan-translate: prints the IR after the memory phase as C++ or CUDA source.

#include "compiler/emission/EmitCpp.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"

int main(int argc, char **argv) {
  titan::emission::registerToCpp();
  return mlir::failed(mlir::mlirTranslateMain(argc, argv, "Titan's translation driver\n"));
}
