// Settings of one name in one declaration.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"

#include <map>
#include <string>

namespace titan::sema {

/// Records in `seen` that a path is set. Returns false after a report if the same declaration has
/// set it before.
bool setsOnce(std::map<std::string, Location> &seen, const std::string &path, Location at,
              DiagnosticEngine &diags);

} // namespace titan::sema
