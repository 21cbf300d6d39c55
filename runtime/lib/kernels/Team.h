// Threads that work on one product.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace titan::rt {

/// The calling thread among those that work on a product, which take the next piece of work as soon
/// as they are free. A product within another's parallel region has one thread.
class Team {
public:
  Team() = default;
  Team(std::atomic<int64_t> &next, int64_t threads) : threads(threads), next(&next) {}
  int64_t size() const { return threads; }
  /// Calls work(i) for each i below `count` on one of the threads, all of which deal out the same,
  /// and returns when all is done.
  template <typename Work> void deal(int64_t count, Work &&work) {
    if (threads == 1) {
      for (int64_t i = 0; i < count; ++i)
        work(i);
      return;
    }
    for (int64_t i; (i = next->fetch_add(1, std::memory_order_relaxed) - dealt) < count;)
      work(i);
    dealt += count + threads; // each thread has asked once in vain
#pragma omp barrier
  }

private:
  int64_t threads = 1;
  std::atomic<int64_t> *next = nullptr;
  int64_t dealt = 0; // how often `next` was asked when the work at hand began
};

} // namespace titan::rt
