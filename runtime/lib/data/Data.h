// Opens and checks the data of a run.
#pragma once

#include "state/Executor.h"

#include "DataSource.h"

#include <string>

namespace titan::rt {

/// Samples with the inputs of a function of the program, from a file of this format: `arrays`
/// (ArraySamples), or tokens (openTokens) in samples of the program's sequence length. Refuses
/// tokens outside of the model's vocabulary: most when the file is opened, all before use.
/// `shuffle` false keeps the file order.
DataSource openData(const Program &program, const std::string &function, const std::string &format,
                    const std::string &path, uint64_t seed, bool shuffle);

} // namespace titan::rt
