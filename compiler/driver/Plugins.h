// Pass plugins on the command line of titanc.
#pragma once

#include "compiler/driver/CompilerInstance.h"

namespace CLI {
class App;
}

namespace titan::driver {

/// --load-pass-plugin, --insert-pass and --pass-pipeline, for commands that run the phases.
void addPlugins(CLI::App &app, CommonOptions &options);

/// Loads the plugins and checks the passes to insert. Returns false after a report.
bool loadPlugins(const CommonOptions &options);

} // namespace titan::driver
