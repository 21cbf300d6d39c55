// The patterns of a run and of its map, with the tensors that each matches.
#ifndef TITAN_COMPILER_SEMA_PATTERNS_H
#define TITAN_COMPILER_SEMA_PATTERNS_H

#include "compiler/sema/check/Check.h"

namespace titan::sema {

struct PatternUse {
  std::string section; ///< as it is written: "parameters", "group", "map: values", ...
  std::string pattern;
  Location loc;
  std::vector<std::string> matches; ///< names as patterns see them: `layers.wq`
};

/// In the order of the text: those of the run, then those of the map.
std::vector<PatternUse> listPatterns(const CheckedRun &run);

/// Warns of `teacher*` where it matches `teacher.table`, but not `layers.teacher.w`: a reader takes
/// it for all that calls of this name make.
void warnMissedNames(const CheckedRun &run, DiagnosticEngine &diags);

} // namespace titan::sema

#endif
