// Opens and checks the data of a run.
#pragma once

#include "state/Executor.h"

#include "DataSource.h"

#include <string>

namespace titan::rt {

/// Samples of the program's sequence length from a file of this format (openTokens). Refuses tokens
/// outside of the model's vocabulary: most when the file is opened, all before use. `shuffle` false
/// keeps the file order.
DataSource openData(const Program &program, const std::string &format, const std::string &path,
                    uint64_t seed, bool shuffle);

} // namespace titan::rt
