// Before a run's first group is made, its ranks agree that they are ranks of one run: that no rank
// is there twice, that they belong to the same job, and that they have the same program, settings,
// options, data and transport (RankRecord.h).
//
// Keys of the store, which rank 0 or torchrun's agent serves:
//   job          rank 0's job, by the launcher's name for it; another job's ranks leave at once
//   rank/R       the process that is rank R: the first that claims it
//   arrivals     how many records there are, and arrival/N each of them, in order of arrival
//   record/0     rank 0's, for those that it refuses
//   peer         an address that other machines reach, for ranks that know none of their own
//   verdict      rank 0's: "agreed NONCE", "refused TEXT" or "failed TEXT"
//   told         how many ranks know of a refusal, for which rank 0, the server, waits
// After an agreement all keys begin with the nonce, which rank 0 drew.
#pragma once

#include "RankRecord.h"
#include "launch/Launch.h"

namespace titan::rt {

class Rendezvous;

/// All ranks call it. Returns when they agree; throws UserError where they do not, which is shared
/// unless this rank is one of those that differ from rank 0, and Fault where ranks do not come.
void agree(Rendezvous &store, const LaunchInfo &launch, RankRecord record);

} // namespace titan::rt
