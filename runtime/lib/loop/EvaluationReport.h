// The report that the command `eval` prints.
#pragma once

#include "Evaluation.h"

#include <string>
#include <vector>

namespace titan::rt {

/// A line for the set without a name, else a table with a row for each set. Numbers have this many
/// significant digits. Ends with a newline.
std::string toText(const std::vector<EvaluationResult> &results, int digits);

/// An object with the keys set (unless the set has no name), loss, perplexity (if it is known),
/// losses and metrics (if there are some), tokens (whose labels count) and seconds. A number that
/// is not finite is null.
std::string toJson(const EvaluationResult &result);

} // namespace titan::rt
