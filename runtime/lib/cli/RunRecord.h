// What ranks of one run must have alike, as the command line and the files give it: the record that
// they compare before they train (comm/RankRecord.h).
#pragma once

#include "settings/Options.h"
#include "settings/Settings.h"

#include "comm/RankRecord.h"
#include "titan/runtime/program.h"

namespace titan::rt {

/// Paths of files to read are not compared, but what is in the files; of what is written, paths
/// are.
RankRecord recordOf(const Program &program, const Settings &settings, const Options &options);

} // namespace titan::rt
