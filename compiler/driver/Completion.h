// `titanc --completion SHELL`: generates a completion script from the description of the command
// line, so it covers every option.
#ifndef TITAN_COMPILER_DRIVER_COMPLETION_H
#define TITAN_COMPILER_DRIVER_COMPLETION_H

namespace CLI {
class App;
}

namespace titan::driver {

enum class Shell { None, Bash, Zsh };

/// Prints a script for `source <(titanc --completion bash)`. Returns the exit status.
int printCompletion(const CLI::App &app, Shell shell);

} // namespace titan::driver

#endif
