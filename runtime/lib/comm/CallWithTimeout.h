// Timeouts for calls that may never return: c10d calls to a peer that accepts a connection but does
// not answer, and system calls to a name server.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

namespace titan::rt {

/// A call has not returned in time.
struct TimedOut : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Calls `body` on its own thread and returns its result. Throws TimedOut after `limit` and
/// detaches the thread, so `body` must not refer to objects of the caller.
template <typename Body> auto callWithTimeout(std::chrono::milliseconds limit, Body body) {
  using Result = decltype(body());
  auto task = std::make_shared<std::packaged_task<Result()>>(std::move(body));
  std::future<Result> result = task->get_future();
  std::thread([task] { (*task)(); }).detach();
  if (result.wait_for(limit) != std::future_status::ready)
    throw TimedOut("no answer within the timeout");
  return result.get();
}

} // namespace titan::rt
