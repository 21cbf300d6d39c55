// The text output of `titanc schedule`: bubble, memory and idle time of a schedule.
#pragma once

#include "base/schedule/Replay.h"

#include <string>

namespace titan::driver {

/// "15.8 %".
std::string formatPercent(double fraction);
/// With at most three digits after the decimal point.
std::string formatNumber(double number);

/// The most residuals that a rank holds at once, in microbatches of all its layers.
double computePeakActivations(const schedule::Schedule &schedule);

/// Sizes, bubble and peak activations of a schedule, and a line for each rank on standard output.
/// `unit` is that of the times; `memory` has the bytes of each rank, or is empty.
void printSummary(const std::string &name, const schedule::Schedule &schedule,
                  const schedule::Replay &times, const std::string &unit,
                  const std::vector<int64_t> &memory);

} // namespace titan::driver
