// Finds the ranks for which a run waited, from the flight records of its ranks.
//
// All members of a group make the same calls. A member that has begun fewer calls than another did
// not come to the call in which the other waits. It may itself wait in a call of another group; the
// cause is a rank that others miss and that waits for nobody.
#pragma once

#include "base/flight/FlightFile.h"

namespace titan::flight {

/// A call of a group that some members have begun and others have not.
struct OpenCall {
  std::vector<int> members;
  uint64_t number;          ///< of the call in its group
  std::vector<int> waiting; ///< members that have begun the call and not ended it
  std::vector<int> missing; ///< members that have not begun the call
  Entry entry;              ///< of a waiting rank: its action, line and step
};

/// The calls that no rank can end, those of the cause first.
std::vector<OpenCall> findOpenCalls(const std::vector<Record> &records);

/// The ranks that others miss and that wait in no call, and those without a record; if there is
/// none and a rank reported an error, all ranks. Of these, the ones without an error, if there are
/// any: a rank that is killed or hangs reports none.
std::vector<int> findCauses(const std::vector<Record> &records, const std::vector<OpenCall> &calls);

/// The report of `titanc flight`, for a terminal.
std::string describe(const std::vector<Record> &records);

/// The last `most` entries of a rank, oldest first, one per line.
std::string describeEntries(const Record &record, size_t most);

} // namespace titan::flight
