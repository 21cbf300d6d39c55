#include "compiler/driver/ModuleFile.h"
#include "compiler/driver/Compile.h"
#include "dialects/titan/IR/AttributeNames.h"

#include "CLI/CLI.hpp"
#include "mlir/IR/Location.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSet.h"

namespace titan::driver {

bool isModuleFile(const CommonOptions &options) {
  return llvm::StringRef(options.file).ends_with(".mlir");
}

void refuseRunOptions(const CommonOptions &options) {
  const std::pair<const char *, bool> given[] = {{"--train", !options.train.empty()},
                                                 {"--config", !options.config.empty()},
                                                 {"--set", !options.overrides.empty()},
                                                 {"-I", !options.searchDirs.empty()}};
  for (auto [name, isGiven] : given)
    if (isGiven)
      throw CLI::ParseError(
          std::string(name) + " has no effect on IR, which contains the settings of one run", 2);
}

/// Loads the files that locations of the module name.
static void loadSources(mlir::ModuleOp module, SourceManager &sources) {
  llvm::StringSet<> seen;
  for (uint32_t file = 0; file < sources.bufferCount(); ++file)
    seen.insert(sources.name(FileId{file}));
  auto load = [&](mlir::FileLineColLoc at) {
    std::string reason; // a file that is gone has no lines to show
    if (seen.insert(at.getFilename()).second)
      sources.loadFile(at.getFilename().str(), reason);
  };
  module.walk([&](mlir::Operation *op) {
    op->getLoc()->walk([&](mlir::Location nested) {
      if (auto at = llvm::dyn_cast<mlir::FileLineColLoc>(nested))
        load(at);
      return mlir::WalkResult::advance();
    });
  });
}

static bool hasProgram(mlir::ModuleOp module) {
  return llvm::any_of(module.getOps(),
                      [](mlir::Operation &op) { return op.hasAttr(ir::attr::kProgram); });
}

mlir::OwningOpRef<mlir::ModuleOp> parseModuleFile(CompilerInstance &instance,
                                                  mlir::MLIRContext &context) {
  const std::string &path = instance.options.file;
  std::string reason;
  std::optional<FileId> file = instance.sources.loadFile(path, reason);
  if (!file) {
    instance.diags.report(Code::CannotReadFile, {}, "cannot read `" + path + "`: " + reason);
    return {};
  }
  DiagnosticScope scope(instance, context);
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(instance.sources.text(*file), &context, path);
  if (module && !hasProgram(*module)) {
    module->emitError("the module has no program: no function has `titan.program`");
    return {};
  }
  if (module)
    loadSources(*module, instance.sources);
  return module;
}

} // namespace titan::driver
