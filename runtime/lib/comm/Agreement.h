// Agreement of the ranks before the first group is made: each rank exists once, all belong to one
// job, and all have the same program, settings, options, data and transport (RankRecord.h).
//
// Keys of the store, which rank 0 or torchrun's agent serves:
//   job          the launcher's name of rank 0's job; ranks of another job end at once
//   rank/R       the process that is rank R: the first that claims it
//   arrivals     the number of records; arrival/N is record N in order of arrival
//   record/0     rank 0's record, for the ranks that it refuses
//   peer         an address that other machines reach, for ranks that know none of their own
//   verdict      rank 0's verdict: "agreed NONCE", "refused TEXT" or "failed TEXT"
//   told         the number of ranks that have read a refusal; rank 0, the server, waits for them
// After an agreement all keys begin with the nonce, which rank 0 drew.
#pragma once

#include "RankRecord.h"
#include "launch/Launch.h"

namespace titan::rt {

class Rendezvous;

/// Collective; returns if the ranks agree. Throws UserError if they differ; it is shared unless
/// this rank differs from rank 0. Throws Fault if a rank does not connect.
void agree(Rendezvous &store, const LaunchInfo &launch, RankRecord record);

} // namespace titan::rt
