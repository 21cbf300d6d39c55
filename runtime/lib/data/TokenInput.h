// The inputs that tokens give to a program.
#pragma once

#include "SampleSet.h"

#include "base/data/Feed.h"

#include <string>
#include <vector>

namespace titan::rt {

struct TokenInput {
  Feed feed;
  DType type;
};

/// Refuses inputs that tokens do not give in samples of this length. `path` is for messages.
std::vector<TokenInput> tokenInputs(const std::vector<InputSpec> &inputs, int64_t sequence,
                                    const std::string &path);

} // namespace titan::rt
