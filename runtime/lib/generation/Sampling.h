// Selection of the next token from its logits.
#pragma once

#include "settings/Options.h"

#include <cstdint>
#include <vector>

namespace titan::rt {

/// The largest logit (the lowest index of several), or at a temperature above 0 a draw with the
/// given uniform number. Ties at the limit of topK or topP favour lower indices. topP follows A.
/// Holtzman et al., "The Curious Case of Neural Text Degeneration", 2020, section 3.1, applied
/// after topK.
int64_t chooseToken(const std::vector<double> &logits, const Sampling &sampling, double uniform);

} // namespace titan::rt
