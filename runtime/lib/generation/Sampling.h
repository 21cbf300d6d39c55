// The next token of a text from its logits.
#pragma once

#include "settings/Options.h"

#include <cstdint>
#include <vector>

namespace titan::rt {

/// The largest logit (the lowest index of several), or at a temperature above 0 a draw with the
/// uniform number given. Of equal logits at the edge of topK or topP, the lower indices count as
/// more likely. topP is A. Holtzman et al., "The Curious Case of Neural Text Degeneration", 2020,
/// section 3.1, of what topK leaves.
int64_t chooseToken(const std::vector<double> &logits, const Sampling &sampling, double uniform);

} // namespace titan::rt
