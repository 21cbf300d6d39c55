// The profile that a compiled program wrote (runtime/lib/profile/Trace.h), as plain data.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace titan::calibration {

/// The seconds of all executions of operations with the same source line and name, in order:
/// "calibration.titan:9 contract".
using SpansByName = std::map<std::string, std::vector<double>>;

struct Profile {
  SpansByName operations;  ///< of the program's own lane
  SpansByName collectives; ///< of the lanes of communication
};

/// Throws UserError if the text is no profile.
Profile readProfile(std::string_view text);

} // namespace titan::calibration
