// The data of a run, opened and looked through.
#pragma once

#include "state/Executor.h"

#include "DataSource.h"

#include <string>

namespace titan::rt {

/// Samples of the program's sequence length from a file of this format (openTokens). Refuses tokens
/// that the model has no row for, most when the file is opened, all before they are used. `shuffle`
/// false keeps the order of the file.
DataSource openData(const Program &program, const std::string &format, const std::string &path,
                    uint64_t seed, bool shuffle);

} // namespace titan::rt
