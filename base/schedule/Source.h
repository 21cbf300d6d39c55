// How a program states its schedule: by the name of an algorithm, or by a table of actions (Csv.h).
// A table has line ends, a name has none.
#pragma once

#include "base/schedule/Generators.h"

namespace titan::schedule {

/// Whether a source is a table.
bool isTable(std::string_view source);

/// The schedule of a source. A table determines its sizes, and is not verified. Throws
/// ScheduleError for an unknown name, for `sizes` for which the algorithm is not defined, and for a
/// table with a cell that is not an action.
Schedule makeSchedule(std::string_view source, const Sizes &sizes);

/// Whether the schedule of a source has separate weight gradients (W). False for an unknown name.
bool hasWgrad(std::string_view source);

} // namespace titan::schedule
