// A lane: a thread that executes the started calls of one process group, in the order of their
// starts, while the program computes. Each group has its own lane, so a call never waits for a call
// of another group. The number of threads is that of the groups in which a program starts calls.
//
// Assumption: all members of a group call it in the same order. Then lanes cannot deadlock if one
// order of all calls of the run contains the order of every rank's program. Proof: let C be the
// first call of that order that does not complete. A program stops only before the end of a call or
// at a wait for one, and all calls before C complete, so every member starts C. All calls before C
// in its lanes are before C in the order, so every lane reaches C, and C completes. If all ranks
// run one program, its text is such an order for collectives; for messages, --dist-verify-messages
// proves that there is one.
//
// Calls are stored in a ring of slots. Starting a call allocates nothing once its slot has held as
// many buffers. After a fault the thread skips all later calls, and the next wait throws the fault.
#pragma once

#include "comm/CollectiveCall.h"

#include <array>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace titan::rt {

class LaneThread {
public:
  /// `number` counts the lanes of a program from 0; profiles show it.
  explicit LaneThread(Staging &staging, int number = 0);
  ~LaneThread();
  LaneThread(const LaneThread &) = delete;
  LaneThread &operator=(const LaneThread &) = delete;

  /// Starts a call and returns its number. Waits if all slots are in use.
  uint64_t start(const CollectiveCall &call);
  /// Waits until the call of this number and all calls before it are done. Rethrows a fault.
  void waitFor(uint64_t number);
  /// Waits until all started calls are done.
  void drain() { waitFor(started); }
  /// Whether all started calls are done.
  bool isIdle();

private:
  void loop();
  /// Returns the exception of a failed call, else null.
  std::exception_ptr perform(const CollectiveCall &call);

  static constexpr size_t kSlots = 32;   // calls that have started and are not done
  static constexpr size_t kBuffers = 64; // buffers of a call for which no allocation is needed
  std::array<CollectiveCall, kSlots> slots;
  Staging &staging;
  const int number;
  std::mutex mutex;
  std::condition_variable callStarted, callDone;
  uint64_t started = 0, done = 0; // numbers of calls; only the program's thread writes `started`
  bool isStopping = false;
  std::exception_ptr fault;
  std::thread thread;
};

} // namespace titan::rt
