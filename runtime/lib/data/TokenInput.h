// The inputs of a program that samples of tokens provide: tokens, labels, and what follows from the
// documents (base/data/Feed.h).
#pragma once

#include "SampleSet.h"

#include "base/data/Feed.h"

#include <string>
#include <vector>

namespace titan::rt {

/// An input of a program: what feeds it, and its element type.
struct TokenInput {
  Feed feed;
  DType type;
};

/// The feed of each input. Throws UserError that names `path` for an input that samples of
/// `sequence` tokens do not provide.
std::vector<TokenInput> tokenInputs(const std::vector<InputSpec> &inputs, int64_t sequence,
                                    const std::string &path);

} // namespace titan::rt
