// Prints after some time what the program waits for. Without this notice, a run with too few
// processes or a wrong address seems to hang.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

namespace titan::rt {

class WaitNotice {
public:
  explicit WaitNotice(std::string text, std::chrono::seconds after = std::chrono::seconds(5))
      : thread([this, text = std::move(text), after](const std::stop_token &ended) {
          std::unique_lock lock(mutex);
          if (!over.wait_for(lock, ended, after, [&] { return ended.stop_requested(); }))
            std::fprintf(stderr, "%s\n", text.c_str());
        }) {}

private:
  std::mutex mutex;
  std::condition_variable_any over;
  std::jthread thread; // last member, so that it ends before the others are destroyed
};

} // namespace titan::rt
