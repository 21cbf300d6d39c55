// Settings from a configuration file (`--config`). They pass the same checks as settings of a run
// and of `--set`. Each setting keeps its source location, so an error is shown in the file.
#pragma once

#include "compiler/sema/runs/Run.h"

namespace titan::sema {

/// Reads a TOML file of settings. A pattern is a key (`[optimizer.group."*norm"]`); a word or a
/// distribution is a string.
std::vector<Override> readConfig(const std::string &path, SourceManager &sources,
                                 DiagnosticEngine &diags);

} // namespace titan::sema
