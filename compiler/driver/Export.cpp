// `titanc export FILE.titan --onnx DIR`: the model of a program beside exported weights.
#include "base/Error.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/Compile.h"
#include "compiler/driver/Output.h"
#include "compiler/driver/Paths.h"
#include "compiler/onnx/StoredWeights.h"
#include "dialects/titan/IR/AttributeNames.h"

#include <iostream>

namespace titan::driver {
namespace {

using Module = mlir::OwningOpRef<mlir::ModuleOp>;

/// A program for some numbers of positions. With `chunk`, it computes so many of them from caches.
struct Length {
  int64_t positions, chunk;
};

/// Two lengths of which no size of one program is by chance that of the other.
std::pair<Length, Length> chooseLengths(int64_t positions) {
  constexpr int64_t unit = 8;
  const int64_t first = std::max(positions - positions % unit, 2 * unit);
  return {{first, first / 2}, {first / 2, first / unit}};
}

class Exporter {
public:
  Exporter(CompilerInstance &instance, CompilerContext &compiler, const ExportOptions &options)
      : instance(instance), compiler(compiler), options(options) {}

  /// The graph; empty after an error, which is reported.
  std::optional<onnx::Graph> run() {
    std::optional<sema::CheckedRun> run = instance.check();
    if (!run)
      return std::nullopt;
    Module module = compile(instance, *run, compiler.context, {"model", ""});
    if (!module)
      return std::nullopt;
    auto logits = module->lookupSymbol<mlir::func::FuncOp>("logits");
    if (!logits) {
      instance.diags.report(Code::PhaseFailed, run->train.loc,
                            "the model has no logits, which an ONNX model returns");
      return std::nullopt;
    }
    const onnx::StoredWeights weights(
        options.directory, module.get()->getAttrOfType<ir::WeightMapAttr>(ir::attr::kWeights));
    std::optional<Free> free = findFreeLength(logits);
    DiagnosticScope scope(instance, compiler.context);
    mlir::FailureOr<onnx::Graph> graph = onnx::translateProgram(
        free ? free->program : logits, free ? free->lengths : onnx::Lengths(),
        [&](onnx::Translation &translation, const onnx::ParameterSlot &slot) {
          return mlir::FailureOr<onnx::Tensor>(weights.read(translation, slot));
        });
    return mlir::failed(graph) ? std::nullopt : std::optional(std::move(*graph));
  }

  /// What users should know about the graph.
  std::vector<std::string> notes;

private:
  /// A program for any number of positions.
  struct Free {
    Module module;
    mlir::func::FuncOp program;
    onnx::Lengths lengths;
  };

  std::optional<Free> findFreeLength(mlir::func::FuncOp logits) {
    const int64_t positions = onnx::getPositions(logits).own;
    if (positions <= 1)
      return std::nullopt;
    const auto [first, second] = chooseLengths(positions);
    Module module = compileFor(logits, first), other = compileFor(logits, second);
    std::string obstacle = "the program does not compile for other lengths";
    if (module && other && options.caches)
      if (std::optional<Free> free = compare(module, other, "prefill", obstacle))
        return free;
    if (options.caches)
      notes.push_back("the model has no caches: " + describeObstacle(logits, obstacle));
    if (module && other)
      if (std::optional<Free> free = compare(module, other, "logits", obstacle))
        return free;
    notes.push_back("the model reads exactly " + std::to_string(positions) +
                    " positions: " + obstacle);
    return std::nullopt;
  }

  static std::string describeObstacle(mlir::func::FuncOp logits, const std::string &obstacle) {
    auto uncached = logits->getAttrOfType<mlir::StringAttr>(ir::attr::kUncached);
    return uncached ? uncached.str() : obstacle;
  }

  static std::optional<Free> compare(Module &module, Module &other, llvm::StringRef name,
                                     std::string &obstacle) {
    auto program = module->lookupSymbol<mlir::func::FuncOp>(name);
    auto otherProgram = other->lookupSymbol<mlir::func::FuncOp>(name);
    if (!program || !otherProgram)
      return std::nullopt;
    obstacle.clear();
    mlir::FailureOr<onnx::Lengths> lengths =
        onnx::Lengths::compare(program, otherProgram, obstacle);
    if (mlir::failed(lengths))
      return std::nullopt;
    return Free{std::move(module), program, std::move(*lengths)};
  }

  /// The module for another number of positions; null if there is none.
  Module compileFor(mlir::func::FuncOp logits, const Length &length) {
    CommonOptions common = instance.options;
    const std::string setting =
        "data." + ir::DataDimsAttr::lookup(logits).getPositions().str() + "=";
    std::erase_if(common.overrides,
                  [&](const std::string &text) { return text.starts_with(setting); });
    common.overrides.push_back(setting + std::to_string(length.positions));
    CompilerInstance silent(common); // its diagnostics are those of a run that nobody asked for
    std::optional<sema::CheckedRun> run = silent.check();
    Module module = run ? driver::compile(silent, *run, compiler.context, {"model", ""}) : Module();
    if (!module || mlir::failed(onnx::computeChunk(*module, length.chunk)))
      return {};
    return module;
  }

  CompilerInstance &instance;
  CompilerContext &compiler;
  const ExportOptions &options;
};

} // namespace

int exportCommand(const CommonOptions &common, const ExportOptions &options) {
  CompilerInstance instance(common);
  CompilerContext compiler;
  Exporter exporter(instance, compiler, options);
  std::optional<onnx::Graph> graph;
  try {
    graph = exporter.run();
  } catch (const UserError &error) {
    std::cerr << "titanc: " << error.what() << '\n'; // about files that are not source text
  }
  if (!graph)
    return instance.finish(1);
  const std::string file = join(options.directory, "model.onnx");
  const std::string bytes =
      onnx::serialize({std::move(*graph), options.opset, "titan", TITAN_VERSION});
  if (std::error_code why = writeOutput(bytes, file)) {
    reportWriteError(instance.diags, file, why);
    return instance.finish(1);
  }
  std::cout << "wrote " << file << '\n';
  for (const std::string &note : exporter.notes)
    std::cout << "note: " << note << '\n';
  return instance.finish();
}

} // namespace titan::driver
