// Calls that may never return, such as those of c10d to a peer that accepts a connection and says
// nothing, or of the system to a name server.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

namespace titan::rt {

struct TimedOut : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Calls `body` on a thread of its own and returns what it does; throws TimedOut after `limit`, and
/// leaves the thread to itself: `body` may refer to nothing that the caller owns.
template <typename Body> auto callWithTimeout(std::chrono::milliseconds limit, Body body) {
  using Result = decltype(body());
  auto task = std::make_shared<std::packaged_task<Result()>>(std::move(body));
  std::future<Result> result = task->get_future();
  std::thread([task] { (*task)(); }).detach();
  if (result.wait_for(limit) != std::future_status::ready)
    throw TimedOut("no answer in time");
  return result.get();
}

} // namespace titan::rt
