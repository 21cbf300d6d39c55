// Errors of a training program, classified by who must act. The class alone determines the exit
// status, so scripts can distinguish a typing mistake from a broken cluster
// without parsing text.
//
//   UsageError  2   the command line is malformed: the user reads --help
//   UserError   1   the command is well-formed but cannot be executed: a file is missing, a number
//                   of processes does not fit, a value is out of range
//   Fault      70   a failure at run time: a peer vanished, a disk filled up. The message names
//                   the rank, the action and the source line.
//   NotFinite  76   the loss or the gradient became infinite or NaN (`on_nonfinite`).
#pragma once

#include <stdexcept>
#include <string>

namespace titan {

/// Exit statuses that scripts may rely on.
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
  explicit UserError(const std::string &message, bool isOnAllRanks = false)
      : std::runtime_error(message), isOnAllRanks(isOnAllRanks) {}

  const bool isOnAllRanks; ///< every rank throws this error, so one rank reports it
};

/// A mistake in the user's input, shown like a compiler diagnostic: `location` is "--set
/// steps:1:1", `excerpt` is the line, a caret and the remedy.
class SourceError : public UserError {
public:
  SourceError(const std::string &message, std::string location, std::string excerpt)
      : UserError(message), location(std::move(location)), excerpt(std::move(excerpt)) {}

  const std::string location, excerpt;
};

/// All ranks throw this exception in the same step.
class NotFinite : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

class Fault : public std::runtime_error {
public:
  /// The rank that failed in a collective.
  struct Peer {
    int rank = -1; ///< -1: none, or unknown
    bool hasEnded = false;
  };
  explicit Fault(const std::string &message) : std::runtime_error(message), peer() {}
  Fault(const std::string &message, Peer peer) : std::runtime_error(message), peer(peer) {}

  const Peer peer; ///< for the first cause (World::withRootCause)
};

} // namespace titan
