// A profile of some steps: what ran when, by source line and operation, as Chrome's trace format
// has it (Perfetto and chrome://tracing open it). The emitted program marks where an operation
// begins (program.h, `trace`); a span ends where the next begins. Room is set aside beforehand, so
// that a mark is a look at the clock. What the thread that communicates carries out is a lane of
// its own, so that one sees what it runs beside. On devices a mark waits for what was queued
// before: spans then tell what each operation takes, and the step as a whole is slower than without
// a profile.
#pragma once

#include "device/Device.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace titan::rt {

class Trace {
public:
  Trace(Device &device, int rank);

  /// The next operation begins; without a place, none.
  void mark(const char *location, const char *action);
  /// A span of the host's own work, from a time to now.
  void span(const char *name, std::chrono::system_clock::time_point begin);
  /// A span of the thread that communicates, from a time to now, and when the program started what
  /// that thread carries out. The program waits for all of it before a step ends, and `write` comes
  /// after steps.
  void collective(const char *location, const char *action,
                  std::chrono::system_clock::time_point started,
                  std::chrono::system_clock::time_point begin);

  /// Writes the file of this rank. Clocks of one machine agree, so files can be laid side by side.
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
    Clock::time_point started, begin, end;
    const char *location, *action;
  };
  Device &device;
  int rank;
  std::vector<Mark> marks;
  std::vector<Span> spans;
  std::vector<CollectiveSpan> collectives; // the communicating thread's alone
};

} // namespace titan::rt
