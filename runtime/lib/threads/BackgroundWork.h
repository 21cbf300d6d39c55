// Tasks that a thread of low priority does beside the program. The program's own thread can take
// tasks of the same list, so that it does not wait for a thread that gets little of a busy
// processor.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace titan::rt {

class BackgroundWork {
public:
  using Task = std::function<void()>;

  BackgroundWork() = default;
  /// Waits for running tasks; drops those that have not begun.
  ~BackgroundWork();
  BackgroundWork(const BackgroundWork &) = delete;
  BackgroundWork &operator=(const BackgroundWork &) = delete;

  /// Starts the thread. Without it, only `help` does tasks.
  void startThread();

  /// Begins a list of tasks, in any order and several at once. The previous list must be done.
  void begin(std::vector<Task> list);

  /// Whether all tasks have ended. Throws the error of a task, each time; the other tasks of the
  /// list are then dropped.
  bool isDone();

  /// Does tasks in the calling thread, and waits for those of the other one. Begins none after
  /// `limit`. Returns `isDone`.
  bool help(std::chrono::steady_clock::duration limit);

private:
  void loop();
  /// Does the next task, if there is one. `lock` is released meanwhile.
  bool runNext(std::unique_lock<std::mutex> &lock);
  bool hasEnded() const { return next == tasks.size() && running == 0; }

  std::mutex mutex;
  std::condition_variable added, ended;
  std::vector<Task> tasks;
  size_t next = 0;    // the first task that has not begun
  size_t running = 0; // tasks that have begun and not ended
  std::exception_ptr error;
  bool isStopping = false;
  std::thread thread;
};

} // namespace titan::rt
