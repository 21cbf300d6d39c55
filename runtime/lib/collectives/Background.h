// The thread that communicates while the program computes. It executes collective calls in the
// order of their starts. All ranks run the same program, so this order is the same on all ranks,
// and no two ranks wait for each other in different groups.
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

class Background {
public:
  explicit Background(Staging &staging);
  ~Background();
  Background(const Background &) = delete;
  Background &operator=(const Background &) = delete;

  /// Starts a call and returns its number. Waits if all slots are in use.
  uint64_t start(const CollectiveCall &call);
  /// Waits until the call of this number and all calls before it are done. Rethrows a fault.
  void waitFor(uint64_t number);
  /// Waits until all started calls are done.
  void drain() { waitFor(started); }

private:
  void loop();
  /// Returns the exception of a failed call, else null.
  std::exception_ptr perform(const CollectiveCall &call);

  static constexpr size_t kSlots = 32, kValues = 64;
  std::array<CollectiveCall, kSlots> slots;
  Staging &staging;
  std::mutex mutex;
  std::condition_variable hasWork, hasDone;
  uint64_t started = 0, done = 0; // only the program's thread writes `started`
  bool stops = false;
  std::exception_ptr fault;
  std::thread thread;
};

} // namespace titan::rt
