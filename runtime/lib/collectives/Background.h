// The thread that communicates while the program computes: it carries out exchanges one after the
// other, in the order in which they were started. The order is the same on all ranks because they
// run the same program, so no two ranks wait for each other in different groups.
//
// A ring of slots that are reused: starting an exchange allocates nothing once its slot has held as
// many values. A fault is kept, what was started after it is left undone, and whoever waits next
// gets it.
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

  /// Starts an exchange and returns its number; waits where all slots are taken.
  uint64_t start(const CollectiveCall &call);
  /// Returns when the exchange of that number and all before it are done. Throws what went wrong.
  void waitFor(uint64_t number);
  /// Returns when nothing is under way.
  void drain() { waitFor(started); }

private:
  void loop();
  /// Returns what went wrong, null if nothing did.
  std::exception_ptr perform(const CollectiveCall &call);

  static constexpr size_t kSlots = 32, kValues = 64;
  std::array<CollectiveCall, kSlots> slots;
  Staging &staging;
  std::mutex mutex;
  std::condition_variable hasWork, hasDone;
  uint64_t started = 0, done = 0; // `started` is written by the program's thread alone
  bool stops = false;
  std::exception_ptr fault;
  std::thread thread;
};

} // namespace titan::rt
