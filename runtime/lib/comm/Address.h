// Network addresses as text; numeric after resolution.
#pragma once

#include "Deadline.h"
#include "MemoryFile.h"

#include <string>

namespace titan::rt {

/// Whether only this machine can reach the address (127.0.1.1, ::1).
bool isLoopback(const std::string &address);

/// The first address of a host name. Retries until the deadline, since the name of a new machine
/// may not be registered yet. Throws std::runtime_error with the host's name.
std::string resolve(const std::string &host, Deadline deadline);

/// The first address of the host that accepts a connection on `port`. Retries as `resolve` does.
std::string reach(const std::string &host, int port, Deadline deadline);

/// A socket that listens at this address, or at all of the machine's addresses if it is empty.
/// Throws std::runtime_error.
Descriptor listenAt(const std::string &address, int port);

/// The address of the interface that reaches `address`. Empty if there is none or `address` is
/// invalid.
std::string localAddressToward(const std::string &address);

} // namespace titan::rt
