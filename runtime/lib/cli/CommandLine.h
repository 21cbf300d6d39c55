// The command line of emitted programs (charter, section 5), as CLI11 options.
#pragma once

#include "settings/Options.h"

#include <optional>
#include <string>

namespace titan::rt {

/// Parses; where the user asked for help it prints that and returns nothing. Errors: UsageError.
std::optional<Options> parseCommandLine(int argc, const char *const *argv,
                                        const std::string &programName);

} // namespace titan::rt
