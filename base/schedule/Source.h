// How a program states its schedule: by the name of an algorithm, or by a table of actions (Csv.h).
// A table has line ends, a name has none.
#pragma once

#include "base/schedule/Generators.h"

namespace titan::schedule {

/// Whether a source is a table.
bool isTable(std::string_view source);

/// The schedule of a source. A table has its own sizes; it is not verified. Throws ScheduleError
/// for an unknown name, for `sizes` that the algorithm does not take, and for a table with cells
/// that are no action.
Schedule makeSchedule(std::string_view source, const Sizes &sizes);

/// Whether a source has W actions, which compute weight gradients apart. False for an unknown name.
bool hasWgrad(std::string_view source);

} // namespace titan::schedule
