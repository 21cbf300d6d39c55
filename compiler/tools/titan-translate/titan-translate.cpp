// titan-translate: writes the IR after the memory phase as C++ or CUDA source, and that of the
// model phase as an ONNX model.

#include "compiler/emission/EmitCpp.h"
#include "compiler/onnx/TranslateProgram.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;

/// Filled during command-line parsing.
static std::vector<mlir::DialectPlugin> plugins;

static void loadPlugin(const std::string &file) {
  Expected<mlir::DialectPlugin> plugin = mlir::DialectPlugin::load(file);
  if (!plugin) {
    WithColor::error(errs(), "titan-translate") << toString(plugin.takeError()) << '\n';
    std::exit(2);
  }
  plugins.push_back(*plugin);
}

static cl::list<std::string> load("load-dialect-plugin", cl::value_desc("FILE"),
                                  cl::callback([](const std::string &file) { loadPlugin(file); }),
                                  cl::desc("A library with dialects of your own"));

int main(int argc, char **argv) {
  auto addDialects = [](mlir::DialectRegistry &registry) {
    for (const mlir::DialectPlugin &plugin : plugins)
      plugin.registerDialectRegistryCallbacks(registry);
  };
  titan::emission::registerToCpp(addDialects);
  titan::onnx::registerToOnnx(addDialects);
  return mlir::failed(mlir::mlirTranslateMain(argc, argv, "Titan's translation driver\n"));
}
