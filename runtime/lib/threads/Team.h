// Threads that work on one product.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

namespace titan::rt {

/// Pieces of work that are dealt out to threads, round after round, a range of neighbours to each:
/// it takes its own from the front, and when they are gone others' from the back, so that nobody
/// waits long for a thread that is slower, or late. Rounds are counted by who takes: a range that
/// nobody touched in this one is whole.
class WorkQueues {
public:
  static constexpr int64_t kMaxRanges = 64, kMaxItems = int64_t{1} << 20; // of a round

  /// An item of range `index` of `ranges`, if there is one left of the round's `count`.
  std::optional<int64_t> take(uint64_t round, int64_t count, int64_t index, int64_t ranges,
                              bool fromFront) {
    std::atomic<uint64_t> &state = states[index].state;
    uint64_t seen = state.load(std::memory_order_relaxed);
    for (;;) {
      Range left = roundOf(seen) == round
                       ? rangeOf(seen)
                       : Range{count * index / ranges, count * (index + 1) / ranges};
      if (left.begin == left.end)
        return std::nullopt;
      const int64_t item = fromFront ? left.begin++ : --left.end;
      if (state.compare_exchange_weak(seen, pack(round, left), std::memory_order_relaxed))
        return item;
    }
  }

private:
  struct Range {
    int64_t begin, end;
  };
  static constexpr int kBits = 21; // a range's end is at most kMaxItems
  static constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
  static uint64_t roundOf(uint64_t state) { return state >> (2 * kBits); }
  static Range rangeOf(uint64_t state) {
    return {static_cast<int64_t>(state >> kBits & kMask), static_cast<int64_t>(state & kMask)};
  }
  static uint64_t pack(uint64_t round, Range left) {
    return round << (2 * kBits) | static_cast<uint64_t>(left.begin) << kBits |
           static_cast<uint64_t>(left.end);
  }

  struct alignas(64) State {
    std::atomic<uint64_t> state = 0; // round 0: untouched
  };
  State states[kMaxRanges];
};

/// The calling thread among those that work on a product. A product within another's parallel
/// region has one thread.
class Team {
public:
  Team() = default;
  Team(WorkQueues &queues, int64_t threads, int64_t thread)
      : threads(threads), ranges(std::min(threads, WorkQueues::kMaxRanges)), own(thread % ranges),
        queues(&queues) {}
  int64_t size() const { return threads; }
  /// Calls work(i) for each i below `count` on one of the threads, all of which deal out the same,
  /// and returns when all is done.
  template <typename Work> void parallelFor(int64_t count, Work &&work) {
    if (threads == 1) {
      for (int64_t i = 0; i < count; ++i)
        work(i);
      return;
    }
    ++round;
    for (int64_t i = 0; i < ranges; ++i)
      while (auto item = queues->take(round, count, (own + i) % ranges, ranges, i == 0))
        work(*item);
#pragma omp barrier
  }

private:
  int64_t threads = 1, ranges = 1, own = 0;
  WorkQueues *queues = nullptr;
  uint64_t round = 0;
};

} // namespace titan::rt
