// Records what this rank does, in a file that survives the process (base/flight/FlightFile.h). An
// entry costs one clock read and a copy of 88 bytes. Threads of lanes record at the same time.
//
// A run that finishes removes its record. `titanc flight OUT` reads those that are left.
#pragma once

#include "base/flight/FlightFile.h"

#include <map>
#include <mutex>
#include <string>

namespace titan::rt {

class Group;
struct Site;

class FlightRecorder {
public:
  /// Creates the file of this rank in the run's directory, in place of an older one. Throws
  /// UserError.
  FlightRecorder(const std::string &runDirectory, int rank, int worldSize);
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder &) = delete;
  FlightRecorder &operator=(const FlightRecorder &) = delete;

  void setStep(int64_t number) { step = number; }
  void recordOperation(const char *location, const char *action);
  /// Records the begin of a call in a group. Returns the index of the group, for `end`.
  int begin(const Group &group, const Site &site);
  void end(int group, const Site &site);
  /// Records that this rank ends with an error.
  void fail() { file->failed = 1; }
  /// Removes the file: the run finished.
  void discard();

private:
  int findOrAddGroup(const Group &group);
  void add(flight::Kind kind, int group, uint64_t call, const char *location, const char *action);

  std::string path;
  flight::FileData *file = nullptr;
  std::atomic<int64_t> step = 0;
  std::mutex mutex; // guards `groups` and the file's table of groups
  std::map<const Group *, int> groups;
};

/// Records a call from construction to destruction, unless the call throws: the call then stays
/// open, as the one in which the rank failed. Without a recorder, does nothing.
class RecordedCall {
public:
  RecordedCall(FlightRecorder *recorder, const Group &group, const Site &site);
  ~RecordedCall();
  RecordedCall(const RecordedCall &) = delete;
  RecordedCall &operator=(const RecordedCall &) = delete;

private:
  FlightRecorder *recorder;
  const Site &site;
  int group = -1;
  int exceptions;
};

} // namespace titan::rt
