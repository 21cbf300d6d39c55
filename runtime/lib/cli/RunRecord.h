// The values that must be equal on all ranks of a run, from the command line and from files. Ranks
// compare the record before they train (titan/runtime/rank_record.h).
#pragma once

#include "train/Options.h"
#include "train/Settings.h"

#include "titan/runtime/program.h"
#include "titan/runtime/rank_record.h"

namespace titan::rt {

/// Input files are compared by content, output files by path.
RankRecord recordOf(const Program &program, const Settings &settings, const Options &options);

} // namespace titan::rt
