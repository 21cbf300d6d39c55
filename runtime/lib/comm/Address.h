// Addresses of machines on the network, as text of numbers once a name is resolved.
#pragma once

#include "Deadline.h"
#include "MemoryFile.h"

#include <string>

namespace titan::rt {

/// Whether nobody but this machine reaches the address (127.0.1.1, ::1).
bool isLoopback(const std::string &address);

/// The first address of a host's name. Tries again until the time is over, as a new machine's name
/// may not be known yet; throws std::runtime_error, which names the host.
std::string resolve(const std::string &host, Deadline deadline);

/// The first address of the host at which something accepts a connection. Tries as `resolve` does.
std::string reach(const std::string &host, int port, Deadline deadline);

/// A socket that listens at this address alone, or at all of this machine's where it is empty.
/// Throws std::runtime_error.
Descriptor listenAt(const std::string &address, int port);

/// The address from which this machine sends to that one: of the interface that reaches it. Empty
/// if none does, or if `address` is none.
std::string localAddressToward(const std::string &address);

} // namespace titan::rt
