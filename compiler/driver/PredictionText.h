// Predicted times as text.
#pragma once

#include "base/prediction/StepTime.h"

#include <string>
#include <vector>

namespace titan::driver {

/// "12.34 GiB".
std::string printGiB(double bytes);
/// Three digits in s, ms or us.
std::string printSeconds(double seconds);
/// "12.3 %" for 0.123.
std::string printPercent(double fraction);

/// What a step spends its time on, and the seconds: kernels by kind, waits for messages by axes,
/// and for other stages.
std::vector<std::pair<std::string, double>> listComponents(const StepTime &time);

} // namespace titan::driver
