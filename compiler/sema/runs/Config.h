// Settings from a configuration file, as the command line's `--config` gives them. They pass the
// same checks as those of a run and of `--set`, and keep their places, so that what is wrong with
// one is shown in the file.
#ifndef TITAN_COMPILER_SEMA_CONFIG_H
#define TITAN_COMPILER_SEMA_CONFIG_H

#include "compiler/sema/runs/Run.h"

namespace titan::sema {

/// Reads a TOML file of settings. A pattern is a key (`[optimizer.group."*norm"]`), a word or a
/// distribution a string.
std::vector<Override> readConfig(const std::string &path, SourceManager &sources,
                                 DiagnosticEngine &diags);

} // namespace titan::sema

#endif
