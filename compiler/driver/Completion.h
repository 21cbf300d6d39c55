// `titanc --completion SHELL`: generates a completion script from the description of the command
// line, so it covers every option.
#pragma once

namespace CLI {
class App;
}

namespace titan::driver {

enum class Shell { None, Bash, Zsh };

/// Prints a script for `source <(titanc --completion bash)`. Returns the exit status.
int printCompletion(const CLI::App &app, Shell shell);

} // namespace titan::driver
