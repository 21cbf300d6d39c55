// The entry points that Titan's tools look up in the library.

#include "Softplus.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

/// For --load-pass-plugin, of titanc and titan-opt.
extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "softplus", "1.0", [] { softplus::registerRaisePass(); }};
}

/// For --load-dialect-plugin, of titan-opt and titan-interpret, which read the operation as text.
extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "softplus", "1.0",
          [](mlir::DialectRegistry *registry) { registry->insert<softplus::SoftplusDialect>(); }};
}
