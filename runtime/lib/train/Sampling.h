// Selection of the next token from its logits.
#pragma once

#include <cstdint>
#include <vector>

namespace titan::rt {

struct Sampling {
  double temperature = 0; ///< of softmax(logits / temperature); 0: the most likely token
  int64_t topK = 0;       ///< only the topK most likely tokens; 0: all
  double topP = 1;        ///< only the fewest tokens with this total probability; in (0, 1]
};

/// The largest logit (the lowest index on ties), or, at a temperature above 0, a draw with the
/// given uniform number. Ties at the limit of topK or topP favour lower indices. topP follows A.
/// Holtzman et al., "The Curious Case of Neural Text Degeneration", 2020, section 3.1, applied
/// after topK.
int64_t chooseToken(const std::vector<double> &logits, const Sampling &sampling, double uniform);

} // namespace titan::rt
