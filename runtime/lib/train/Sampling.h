// The next token of a text from its logits.
#pragma once

#include <cstdint>
#include <vector>

namespace titan::rt {

struct Sampling {
  double temperature = 0; ///< of softmax(logits / temperature); 0: the most likely token
  int64_t topK = 0;       ///< among so many of the most likely tokens; 0: all
  double topP = 1;        ///< among the fewest of those that are together as likely; in (0, 1]
};

/// The largest logit (the lowest index of several), or at a temperature above 0 a draw with the
/// uniform number given. Of equal logits at the edge of topK or topP, the lower indices count as
/// more likely. topP is A. Holtzman et al., "The Curious Case of Neural Text Degeneration", 2020,
/// section 3.1, of what topK leaves.
int64_t chooseToken(const std::vector<double> &logits, const Sampling &sampling, double uniform);

} // namespace titan::rt
