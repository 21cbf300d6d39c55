// The patterns of a run and of its map, with their matching tensors.
#pragma once

#include "compiler/sema/check/Check.h"

namespace titan::sema {

struct PatternUse {
  std::string section; ///< as written: "parameters", "group", "map: values", ...
  std::string pattern;
  Location loc;
  std::vector<std::string> matches; ///< names as patterns match them: `layers.wq`
};

/// In source order: first those of the run, then those of the map.
std::vector<PatternUse> listPatterns(const CheckedRun &run);

/// Warns if `teacher*` matches `teacher.table` but not `layers.teacher.w`: a reader expects all
/// parameters of the calls of this name.
void warnMissedNames(const CheckedRun &run, DiagnosticEngine &diags);

} // namespace titan::sema
