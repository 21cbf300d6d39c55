// A deadline that several waits share.
#pragma once

#include <algorithm>
#include <chrono>

namespace titan::rt {

class Deadline {
public:
  using Milliseconds = std::chrono::milliseconds;
  explicit Deadline(Milliseconds fromNow) : end(Clock::now() + fromNow) {}

  /// The remaining time, rounded up; 0 when the deadline is over.
  Milliseconds left() const {
    return std::max(Milliseconds(0), std::chrono::ceil<Milliseconds>(end - Clock::now()));
  }
  bool isOver() const { return Clock::now() >= end; }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end;
};

} // namespace titan::rt
