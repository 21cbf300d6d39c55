#include "compiler/driver/Plugins.h"
#include "compiler/pipelines/Phases.h"
#include "compiler/pipelines/Plugins.h"
#include "dialects/registration/RegisterAll.h"

#include "CLI/CLI.hpp"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include <iostream>

namespace titan::driver {

void addPlugins(CLI::App &app, CommonOptions &options) {
  app.add_option("--load-pass-plugin", options.plugins, "a shared library with passes")
      ->type_name("FILE")
      ->take_all()
      ->allow_extra_args(false);
  CLI::Option *inserted =
      app.add_option("--insert-pass", options.insertions,
                     "run a pass after or before a phase, or after or before a pass of a phase")
          ->type_name("after:PHASE=PASS")
          ->take_all()
          ->allow_extra_args(false);
  app.add_option("--pass-pipeline", options.pipeline,
                 "run this pipeline instead of the phases, which are titan-phase-NAME in it")
      ->type_name("PIPELINE")
      ->excludes(inserted);
}

/// Titan's passes, the phases as pipelines, and MLIR's passes of any dialect.
static void registerAllPasses() {
  static std::vector<pipelines::Insertion> none;
  titan::registerPasses();
  pipelines::registerPhasePipelines(none);
  mlir::registerTransformsPasses();
}

static llvm::Error checkPipeline(const std::string &text) {
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (succeeded(mlir::parsePassPipeline(text, stream)))
    return llvm::Error::success();
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "cannot run --pass-pipeline (is a --load-pass-plugin missing?): " +
                                     llvm::StringRef(stream.str()).trim());
}

bool loadPlugins(const CommonOptions &options) {
  auto isGood = [](llvm::Error error) {
    if (!error)
      return true;
    std::cerr << "titanc: " << llvm::toString(std::move(error)) << '\n';
    return false;
  };
  if (!options.insertions.empty() || !options.pipeline.empty())
    registerAllPasses();
  for (const std::string &file : options.plugins)
    if (!isGood(pipelines::loadPassPlugin(file)))
      return false;
  for (const std::string &text : options.insertions)
    if (!isGood(pipelines::readInsertion(text).takeError()))
      return false;
  return options.pipeline.empty() || isGood(checkPipeline(options.pipeline));
}

} // namespace titan::driver
