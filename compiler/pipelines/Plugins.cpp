#include "compiler/pipelines/Plugins.h"
#include "compiler/pipelines/Phases.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

namespace titan::pipelines {

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

llvm::Error loadPassPlugin(const std::string &file) {
  llvm::Expected<PassPlugin> plugin = PassPlugin::load(file);
  if (!plugin)
    return plugin.takeError();
  plugin->registerPassRegistryCallbacks();
  return llvm::Error::success();
}

static std::string getPhaseNames() {
  std::string names;
  for (const Phase &phase : getPhases())
    names += (names.empty() ? "" : ", ") + phase.name.str();
  return names;
}

llvm::Expected<Insertion> readInsertion(const std::string &text) {
  auto [position, pass] = llvm::StringRef(text).split('=');
  if (!position.consume_front("after:") || pass.empty())
    return makeError("--insert-pass takes after:PHASE=PASS, not `" + text + "`");
  if (!findPhase(position))
    return makeError("there is no phase `" + position +
                     "` to insert a pass after; the phases are " + getPhaseNames());
  OpPassManager manager(ModuleOp::getOperationName(), OpPassManager::Nesting::Implicit);
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (failed(parsePassPipeline(pass, manager, stream)))
    return makeError("cannot insert `" + pass + "` (is its --load-pass-plugin missing?): " +
                     llvm::StringRef(stream.str()).trim());
  return Insertion{position.str(), pass.str()};
}

LogicalResult insertAfter(llvm::StringRef phase, std::vector<Insertion> &insertions,
                          OpPassManager &manager) {
  // A pass of functions needs no `func.func(...)` around it.
  manager.setNesting(OpPassManager::Nesting::Implicit);
  for (Insertion &insertion : insertions)
    if (insertion.phase == phase) {
      insertion.isUsed = true;
      if (failed(parsePassPipeline(insertion.pass, manager)))
        return failure();
    }
  return success();
}

} // namespace titan::pipelines
