// The command line of emitted programs, with CLI11.
#pragma once

#include "settings/Options.h"

#include <optional>
#include <string>

namespace titan::rt {

/// Parses the arguments; for --help, prints the help and returns nothing. Errors: UsageError.
std::optional<Options> parseCommandLine(int argc, const char *const *argv,
                                        const std::string &programName);

} // namespace titan::rt
