// Passes of other people on titanc's command line.
#ifndef TITAN_COMPILER_DRIVER_PLUGINS_H
#define TITAN_COMPILER_DRIVER_PLUGINS_H

#include "compiler/driver/CompilerInstance.h"

namespace CLI {
class App;
}

namespace titan::driver {

/// --load-pass-plugin and --insert-pass, of commands that run the phases.
void addPlugins(CLI::App &app, CommonOptions &options);

/// Makes the passes of plugins known, and sees that what is to be inserted can be. False, and said
/// why, if not.
bool loadPlugins(const CommonOptions &options);

} // namespace titan::driver

#endif
