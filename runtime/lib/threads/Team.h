// Distributes the work of one GEMM over threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

namespace titan::rt {

/// Work stealing: each round assigns a contiguous range of items to each thread. A thread takes
/// items from the front of its range, then from the back of other ranges. So a slow or late thread
/// delays the others only briefly. A state with an older round number is an untouched range.
class WorkQueues {
public:
  static constexpr int64_t kMaxRanges = 64, kMaxItems = int64_t{1} << 20; // per round

  /// An item of range `index` of `ranges`, if the round's `count` items are not exhausted.
  std::optional<int64_t> take(uint64_t round, int64_t count, int64_t index, int64_t ranges,
                              bool fromFront) {
    std::atomic<uint64_t> &state = states[index].state;
    uint64_t seen = state.load(std::memory_order_relaxed);
    for (;;) {
      Range left = getRound(seen) == round
                       ? getRange(seen)
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
  static constexpr int kBits = 21; // the end of a range is at most kMaxItems
  static constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
  static uint64_t getRound(uint64_t state) { return state >> (2 * kBits); }
  static Range getRange(uint64_t state) {
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

/// The calling thread within the team of a GEMM. A GEMM inside another parallel region has a team
/// of one.
class Team {
public:
  Team() = default;
  Team(WorkQueues &queues, int64_t threads, int64_t thread)
      : threads(threads), ranges(std::min(threads, WorkQueues::kMaxRanges)), own(thread % ranges),
        queues(&queues) {}
  int64_t size() const { return threads; }
  /// Runs work(i) once for each i < `count`, distributed over the team. All threads call it with
  /// the same count; it returns when all items are done.
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
