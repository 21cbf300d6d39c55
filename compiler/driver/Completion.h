// `titanc --completion SHELL`: what makes a shell complete titanc's arguments, made from the
// command line's own description, so that no option can be forgotten.
#ifndef TITAN_COMPILER_DRIVER_COMPLETION_H
#define TITAN_COMPILER_DRIVER_COMPLETION_H

namespace CLI {
class App;
}

namespace titan::driver {

enum class Shell { None, Bash, Zsh };

/// Prints a script to be sourced: `source <(titanc --completion bash)`. Returns the exit status.
int printCompletion(const CLI::App &app, Shell shell);

} // namespace titan::driver

#endif
