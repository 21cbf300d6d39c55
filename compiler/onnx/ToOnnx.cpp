// titan-translate --titan-to-onnx.

#include "compiler/onnx/TranslateProgram.h"
#include "dialects/registration/RegisterAll.h"

#include "mlir/Tools/mlir-translate/Translation.h"

using namespace mlir;
using namespace titan;

static LogicalResult translate(ModuleOp module, function_ref<void(titan::onnx::Graph)> write) {
  auto logits = module.lookupSymbol<func::FuncOp>("logits");
  if (!logits)
    return module.emitError("the module has no program @logits to translate to ONNX");
  FailureOr<titan::onnx::Graph> graph =
      titan::onnx::translateProgram(logits, {}, titan::onnx::readAsInput);
  if (failed(graph))
    return failure();
  write(std::move(*graph));
  return success();
}

void titan::onnx::registerToOnnx(const std::function<void(DialectRegistry &registry)> &extend) {
  auto dialects = [extend](DialectRegistry &registry) {
    registerDialects(registry);
    extend(registry);
  };
  TranslateFromMLIRRegistration file(
      "titan-to-onnx", "write @logits of the model phase as an ONNX model",
      [](ModuleOp module, llvm::raw_ostream &out) {
        return translate(module, [&](Graph graph) {
          out << serialize({std::move(graph), leastOpset, "titan", ""});
        });
      },
      dialects);
  TranslateFromMLIRRegistration text(
      "titan-to-onnx-text", "print @logits of the model phase as the text of an ONNX graph",
      [](ModuleOp module, llvm::raw_ostream &out) {
        return translate(module, [&](const Graph &graph) { print(graph, out); });
      },
      dialects);
}
