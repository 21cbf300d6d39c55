// What can go wrong in a training program, by who has to act on it. The exit status of the program
// follows from the class alone (charter, section 5): a script can tell a typing mistake from a
// broken cluster without reading text.
//
//   UsageError  2   the command line is malformed: the user reads --help
//   UserError   1   the command is well-formed but cannot be done: a file is missing, a number of
//                   processes does not fit, a value is out of range
//   Fault      70   something failed while running: a peer vanished, a disk filled up. The message
//                   names the rank, the action and the source line.
//   NotFinite  76   the loss or the gradient became infinite or not a number (`on_nonfinite`).
#pragma once

#include <stdexcept>
#include <string>

namespace titan {

/// Exit statuses that are promises to scripts.
enum ExitStatus : int {
  ExitSuccess = 0,
  ExitUserError = 1,
  ExitUsage = 2,
  ExitFault = 70,
  ExitStoppedBySignal = 75,
  ExitNotFinite = 76,
};

class UsageError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

class UserError : public std::runtime_error {
public:
  explicit UserError(const std::string &message, bool isShared = false)
      : std::runtime_error(message), isShared(isShared) {}

  const bool isShared; ///< every rank knows of it, so that one is to say it
};

/// A mistake in what the user wrote, shown as the compiler would: `location` is "--set steps:1:1",
/// `excerpt` the line with a caret below, and the remedy.
class SourceError : public UserError {
public:
  SourceError(const std::string &message, std::string location, std::string excerpt)
      : UserError(message), location(std::move(location)), excerpt(std::move(excerpt)) {}

  const std::string location, excerpt;
};

/// Every rank finds the same.
class NotFinite : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

class Fault : public std::runtime_error {
public:
  /// The rank that did not do its part in a collective.
  struct Peer {
    int rank = -1; ///< -1: none, or not known
    bool hasEnded = false;
  };
  explicit Fault(const std::string &message) : std::runtime_error(message), peer() {}
  Fault(const std::string &message, Peer peer) : std::runtime_error(message), peer(peer) {}

  const Peer peer; ///< for the first cause (World::withRootCause)
};

} // namespace titan
