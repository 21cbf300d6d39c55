// Why a run failed, said by all its ranks. A rank that fails tells the store what it met and for
// which rank it waited; it follows these from rank to rank to the one that waited for nobody, or
// for one that says nothing any more: that is what the run failed of.
#pragma once

#include "base/Error.h"

#include <functional>
#include <string>

namespace titan::rt {

class Rendezvous;

/// The message of this rank's failure, with that of the first cause where it is another rank's.
/// Calls `leaveGroups` once the failure is told, so that who waits for this rank notices while rank
/// 0 still serves the store. Takes a second or two where ranks do not answer; throws nothing.
std::string withRootCause(Rendezvous &store, int rank, int worldSize, const std::string &message,
                          Fault::Peer peer, const std::function<void()> &leaveGroups);

} // namespace titan::rt
