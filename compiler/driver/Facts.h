// What the compiler knows of a run before it runs, beyond what the source says: arithmetic, memory
// and communication, read off the compiled program.
#ifndef TITAN_COMPILER_DRIVER_FACTS_H
#define TITAN_COMPILER_DRIVER_FACTS_H

#include "compiler/driver/Session.h"
#include "compiler/plan/MemoryReport.h"
#include "dialects/dist/Analysis/CollectiveReport.h"

namespace titan::driver {

struct Facts {
  int64_t ranks = 1;
  double flopsPerToken = 0; ///< executed, forward and backward; on all ranks together
  plan::MemoryReport memory;
  std::vector<dist::CollectiveUse> collectives; ///< of one training step
};

/// Takes the run through all phases. `processes` fixes the `auto` degree. Nothing after an error.
std::optional<Facts> gatherFacts(Session &session, const sema::CheckedRun &run, int64_t processes);

} // namespace titan::driver

#endif
