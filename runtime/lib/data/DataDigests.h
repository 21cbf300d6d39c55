// The content of a run's data files in a few words, to compare ranks, and a run with the one that
// saved its checkpoint.
#pragma once

#include "manifest/Identity.h"
#include "settings/Settings.h"

#include <vector>

namespace titan::rt {

/// The data files of the settings: a text, or the files of indexed tokens, for each of several
/// sets, with their weights.
std::vector<Identity::Input> digestData(const Settings &settings);

} // namespace titan::rt
