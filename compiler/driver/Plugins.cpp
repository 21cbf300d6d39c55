#include "compiler/driver/Plugins.h"
#include "compiler/pipelines/Plugins.h"
#include "dialects/registration/RegisterAll.h"

#include "CLI/CLI.hpp"
#include <iostream>

namespace titan::driver {

void addPlugins(CLI::App &app, CommonOptions &options) {
  app.add_option("--load-pass-plugin", options.plugins, "a shared library with passes")
      ->type_name("FILE")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--insert-pass", options.insertions, "run a pass after a phase")
      ->type_name("after:PHASE=PASS")
      ->take_all()
      ->allow_extra_args(false);
}

bool loadPlugins(const CommonOptions &options) {
  auto isGood = [](llvm::Error error) {
    if (!error)
      return true;
    std::cerr << "titanc: " << llvm::toString(std::move(error)) << '\n';
    return false;
  };
  if (!options.insertions.empty())
    titan::registerPasses();
  for (const std::string &file : options.plugins)
    if (!isGood(pipelines::loadPassPlugin(file)))
      return false;
  for (const std::string &text : options.insertions)
    if (!isGood(pipelines::readInsertion(text).takeError()))
      return false;
  return true;
}

} // namespace titan::driver
