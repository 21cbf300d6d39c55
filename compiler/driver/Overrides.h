// Settings that a command changes for a trial, as a user would by `--set`.
#pragma once

#include "compiler/driver/CompilerInstance.h"

namespace titan::driver {

/// Replaces the value of a path in the arguments of `--set`.
void setOverride(CommonOptions &options, const std::string &path, const std::string &value);

} // namespace titan::driver
