// A profile of some steps, by source line and operation, in Chrome's trace format (for Perfetto and
// chrome://tracing). The emitted program marks the start of each operation (program.h, `trace`); a
// span ends at the next mark. Memory is reserved in advance, so a mark costs one clock read. The
// threads that communicate have separate lanes, which show the overlap. On devices, a mark waits
// for earlier work: spans show the time of each operation, but the step is slower than without a
// profile.
#pragma once

#include "device/Device.h"

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace titan::rt {

class Trace {
public:
  Trace(Device &device, int rank);

  /// Marks the start of an operation; without a location, only the end of the previous one.
  void mark(const char *location, const char *action);
  /// Adds a span of host work from `begin` to now.
  void span(const char *name, std::chrono::system_clock::time_point begin);
  /// Adds a span of communication lane `lane` from `begin` to now, and the time at which the
  /// program started the collective. Lanes may call at the same time. The program waits for all
  /// collectives before a step ends, and `write` is called after steps.
  void collective(int lane, const char *location, const char *action,
                  std::chrono::system_clock::time_point started,
                  std::chrono::system_clock::time_point begin);

  /// Writes the file of this rank. Ranks of one machine share a clock, so their files can be
  /// merged.
  void write(const std::string &path) const;

private:
  using Clock = std::chrono::system_clock;
  struct Mark {
    Clock::time_point time;
    const char *location, *action;
  };
  struct Span {
    Clock::time_point begin, end;
    const char *name;
  };
  struct CollectiveSpan {
    int lane;
    Clock::time_point started, begin, end;
    const char *location, *action;
  };
  Device &device;
  int rank;
  std::vector<Mark> marks;
  std::vector<Span> spans;
  std::mutex mutex;                        // guards `collectives`
  std::vector<CollectiveSpan> collectives; // written by the lanes only
};

} // namespace titan::rt
