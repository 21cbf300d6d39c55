#include "compiler/pipelines/Plugins.h"
#include "compiler/pipelines/PhaseSteps.h"
#include "compiler/pipelines/PipelineText.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;

namespace titan::pipelines {

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

static std::vector<DialectPlugin> &getDialectPlugins() {
  static std::vector<DialectPlugin> plugins;
  return plugins;
}

llvm::Error loadPassPlugin(const std::string &file) {
  llvm::Expected<PassPlugin> plugin = PassPlugin::load(file);
  if (!plugin)
    return plugin.takeError();
  plugin->registerPassRegistryCallbacks();
  addPlugin(file);
  if (llvm::Expected<DialectPlugin> dialects = DialectPlugin::load(file))
    getDialectPlugins().push_back(*dialects);
  else // a library without dialects
    llvm::consumeError(dialects.takeError());
  return llvm::Error::success();
}

void registerPluginDialects(DialectRegistry &registry) {
  for (const DialectPlugin &plugin : getDialectPlugins())
    plugin.registerDialectRegistryCallbacks(registry);
}

/// "NAME DIGEST" for a library.
static std::string identify(const std::string &file) {
  const std::string name = llvm::sys::path::filename(file).str();
  auto content = llvm::MemoryBuffer::getFile(file);
  if (!content) // the dynamic linker found it elsewhere
    return name;
  const auto digest = llvm::SHA256::hash(llvm::arrayRefFromStringRef((*content)->getBuffer()));
  return name + " " + llvm::toHex(ArrayRef(digest).take_front(8), /*LowerCase=*/true);
}

/// The plugins of this process. A library stays loaded until the process ends.
static std::vector<std::string> &getLoaded() {
  static std::vector<std::string> loaded;
  return loaded;
}

void addPlugin(const std::string &file) {
  getLoaded().push_back(identify(file));
}

llvm::ArrayRef<std::string> getPlugins() {
  return getLoaded();
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

/// Finds the phase of the insertion: the one of this name, or the only one with a pass of this
/// name.
static llvm::Error findPosition(llvm::StringRef name, Insertion &insertion) {
  if (findPhase(name)) {
    insertion.phase = name.str();
    return llvm::Error::success();
  }
  insertion.neighbour = name.str();
  for (const Phase &phase : getPhases()) {
    const unsigned count = countPasses(printPasses(phase, RunSettings()), name);
    if (count > 1 || (count == 1 && !insertion.phase.empty()))
      return makeError("the pass `" + name + "` runs several times, so that `" + insertion.text +
                       "` is ambiguous");
    if (count == 1)
      insertion.phase = phase.name.str();
  }
  if (insertion.phase.empty())
    return makeError("there is no phase or pass `" + name + "` to insert a pass " +
                     (insertion.isBefore ? "before" : "after") + "; the phases are " +
                     getPhaseNames() + ", and titan-opt --list-phases lists their passes");
  return llvm::Error::success();
}

/// Chooses how the pass is nested: as it is, within `func.func(...)`, or beside the nest of its
/// neighbour. A pass of functions needs no `func.func(...)` around it.
static bool chooseNest(llvm::StringRef pass, Insertion &insertion, std::string &message) {
  std::string passes;
  if (!insertion.neighbour.empty())
    passes = printPasses(*findPhase(insertion.phase), RunSettings());
  for (bool leavesNest : {false, true})
    for (const std::string &pipeline : {pass.str(), "func.func(" + pass.str() + ")"}) {
      const TextInsertion text{pipeline, insertion.neighbour, insertion.isBefore, leavesNest};
      if (!canParse(passes.empty() ? pipeline : *insertPass(passes, text), message))
        continue;
      insertion.pass = pipeline;
      insertion.leavesNest = leavesNest;
      return true;
    }
  return false;
}

llvm::Expected<Insertion> readInsertion(const std::string &text) {
  auto [position, pass] = llvm::StringRef(text).split('=');
  Insertion insertion;
  insertion.text = text;
  insertion.isBefore = position.consume_front("before:");
  if ((!insertion.isBefore && !position.consume_front("after:")) || pass.empty())
    return makeError("--insert-pass takes after:NAME=PASS or before:NAME=PASS, where NAME is a "
                     "phase or a pass of one, not `" +
                     text + "`");
  if (llvm::Error error = findPosition(position, insertion))
    return error;
  std::string message;
  if (chooseNest(pass, insertion, message))
    return insertion;
  return makeError("cannot insert `" + pass +
                   "` (is its --load-pass-plugin missing?): " + llvm::StringRef(message).trim());
}

} // namespace titan::pipelines
