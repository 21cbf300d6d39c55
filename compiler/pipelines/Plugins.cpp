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

/// Whether MLIR accepts the pipeline on a module. Sets `message` to the reason of the first
/// failure.
static bool canParse(llvm::StringRef pipeline, std::string &message) {
  OpPassManager manager(ModuleOp::getOperationName());
  std::string reason;
  llvm::raw_string_ostream stream(reason);
  if (succeeded(parsePassPipeline(pipeline, manager, stream)))
    return true;
  if (message.empty())
    message = stream.str();
  return false;
}

llvm::Expected<Insertion> readInsertion(const std::string &text) {
  auto [position, pass] = llvm::StringRef(text).split('=');
  if (!position.consume_front("after:") || pass.empty())
    return makeError("--insert-pass takes after:PHASE=PASS, not `" + text + "`");
  if (!findPhase(position))
    return makeError("there is no phase `" + position +
                     "` to insert a pass after; the phases are " + getPhaseNames());
  // A pass of functions needs no `func.func(...)` around it.
  std::string message;
  for (const std::string &pipeline : {pass.str(), "func.func(" + pass.str() + ")"})
    if (canParse(pipeline, message))
      return Insertion{position.str(), pipeline};
  return makeError("cannot insert `" + pass +
                   "` (is its --load-pass-plugin missing?): " + llvm::StringRef(message).trim());
}

LogicalResult insertAfter(llvm::StringRef phase, std::vector<Insertion> &insertions,
                          OpPassManager &manager) {
  for (Insertion &insertion : insertions)
    if (insertion.phase == phase) {
      insertion.isUsed = true;
      if (failed(parsePassPipeline(insertion.pass, manager)))
        return failure();
    }
  return success();
}

} // namespace titan::pipelines
