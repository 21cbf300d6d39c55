// The values that must be equal on all ranks of a run, from the command line and from files. Ranks
// compare the record before they train (comm/RankRecord.h).
#pragma once

#include "settings/Options.h"
#include "settings/Settings.h"

#include "comm/RankRecord.h"
#include "titan/runtime/program.h"

namespace titan::rt {

/// Input files are compared by content, output files by path.
RankRecord makeRecord(const Program &program, const Settings &settings, const Options &options);

} // namespace titan::rt
