#include "BackgroundWork.h"

#include <utility>

#include <sys/resource.h>
#include <unistd.h>

namespace titan::rt {

/// The system's lowest priority: on a busy processor, the thread gets what others leave.
static void lowerPriority() {
  constexpr int lowest = 19;
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), lowest); // of this thread, on Linux
}

BackgroundWork::~BackgroundWork() {
  if (!thread.joinable())
    return;
  {
    std::lock_guard lock(mutex);
    isStopping = true;
  }
  added.notify_one();
  thread.join();
}

void BackgroundWork::startThread() {
  thread = std::thread([this] { loop(); });
}

void BackgroundWork::begin(std::vector<Task> list) {
  {
    std::lock_guard lock(mutex);
    tasks = std::move(list);
    next = 0;
    error = nullptr;
  }
  added.notify_one();
}

bool BackgroundWork::isDone() {
  std::lock_guard lock(mutex);
  if (error)
    std::rethrow_exception(error);
  return hasEnded();
}

bool BackgroundWork::help(std::chrono::steady_clock::duration limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  {
    std::unique_lock lock(mutex);
    while (std::chrono::steady_clock::now() < end && runNext(lock)) {
    }
    ended.wait_until(lock, end, [&] { return hasEnded() || error; });
  }
  return isDone();
}

bool BackgroundWork::runNext(std::unique_lock<std::mutex> &lock) {
  if (next == tasks.size())
    return false;
  const Task task = std::move(tasks[next++]);
  ++running;
  lock.unlock();
  std::exception_ptr problem;
  try {
    task();
  } catch (...) {
    problem = std::current_exception();
  }
  lock.lock();
  --running;
  if (problem) {
    error = problem;
    next = tasks.size();
  }
  if (hasEnded())
    ended.notify_one();
  return true;
}

void BackgroundWork::loop() {
  lowerPriority();
  std::unique_lock lock(mutex);
  while (true) {
    added.wait(lock, [&] { return isStopping || next < tasks.size(); });
    if (isStopping)
      return;
    runNext(lock);
  }
}

} // namespace titan::rt
