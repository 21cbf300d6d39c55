// Finds the root cause of a failed run. A failing rank publishes its error and the rank for which
// it waited. It then follows this chain of ranks to one that waited for nobody or does not answer.
// That rank's error is the root cause.
#pragma once

#include "base/Error.h"

#include <functional>
#include <string>

namespace titan::rt {

class Rendezvous;

/// The message of this rank's failure, followed by the root cause if that is another rank's. Calls
/// `leaveGroups` after publishing the failure, so that waiting ranks notice it while rank 0 still
/// serves the store. Takes up to two seconds if ranks do not answer. Throws nothing.
std::string withRootCause(Rendezvous &store, int rank, int worldSize, const std::string &message,
                          Fault::Peer peer, const std::function<void()> &leaveGroups);

} // namespace titan::rt
