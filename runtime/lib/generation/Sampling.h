// Selection of the next token from its logits.
#pragma once

#include "settings/Options.h"

#include <cstdint>
#include <span>
#include <vector>

namespace titan::rt {

/// The largest logit (the lowest index of several), or at a temperature above 0 a draw with the
/// given uniform number. Ties at the limit of topK or topP favour lower indices. topP follows A.
/// Holtzman et al., "The Curious Case of Neural Text Degeneration", 2020, section 3.1, applied
/// after topK; minP follows Nguyen et al., "Turning Up the Heat: Min-p Sampling", 2024, section 3.
int64_t chooseToken(const std::vector<double> &logits, const Sampling &sampling, double uniform);

/// Divides positive logits of the tokens of a text by the penalty, and multiplies negative ones by
/// it (Keskar et al., "CTRL", 2019, section 4.1, in the form of transformers).
void penalizeRepetition(std::vector<double> &logits, std::span<const int64_t> text, double penalty);

} // namespace titan::rt
