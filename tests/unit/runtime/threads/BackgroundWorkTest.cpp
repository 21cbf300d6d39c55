// Lists of tasks of a background thread.
#include "threads/BackgroundWork.h"

#include "base/Error.h"

#include <atomic>
#include <future>
#include <gtest/gtest.h>

using namespace titan;
using namespace titan::rt;
using namespace std::chrono_literals;

namespace {

std::vector<BackgroundWork::Task> makeTasks(int count, std::atomic<int> &ended) {
  return std::vector<BackgroundWork::Task>(static_cast<size_t>(count), [&ended] { ++ended; });
}

// The calling thread does all tasks if there is no other.
TEST(BackgroundWork, WithoutThread) {
  std::atomic<int> ended = 0;
  BackgroundWork work;
  EXPECT_TRUE(work.isDone());
  work.begin(makeTasks(3, ended));
  EXPECT_FALSE(work.isDone());
  EXPECT_FALSE(work.help(0s)); // begins none
  EXPECT_EQ(ended, 0);
  EXPECT_TRUE(work.help(60s));
  EXPECT_EQ(ended, 3);
}

// Both threads take tasks; each is done once.
TEST(BackgroundWork, TakesTasksInBothThreads) {
  std::atomic<int> ended = 0;
  BackgroundWork work;
  work.startThread();
  for (int list = 1; list <= 50; ++list) {
    work.begin(makeTasks(40, ended));
    while (!work.help(1s)) {
    }
    EXPECT_EQ(ended, 40 * list);
  }
  work.begin(makeTasks(1, ended));
  while (!work.isDone())
    std::this_thread::yield(); // the thread alone
  EXPECT_EQ(ended, 2001);
}

// `help` waits for a task of the other thread, but not longer than its limit.
TEST(BackgroundWork, WaitsForRunningTasks) {
  std::promise<void> begun, release;
  BackgroundWork work;
  work.startThread();
  work.begin({[&] {
    begun.set_value();
    release.get_future().wait();
  }});
  begun.get_future().wait();
  EXPECT_FALSE(work.help(1ms));
  release.set_value();
  while (!work.help(1s)) {
  }
}

// After an error, the list is never done, and its other tasks are dropped.
TEST(BackgroundWork, KeepsAnError) {
  std::atomic<int> ended = 0;
  BackgroundWork work;
  std::vector<BackgroundWork::Task> tasks = makeTasks(2, ended);
  tasks.insert(tasks.begin() + 1, [] { throw Fault("the disk is full"); });
  work.begin(std::move(tasks));
  EXPECT_THROW(work.help(60s), Fault);
  EXPECT_THROW(work.isDone(), Fault);
  EXPECT_THROW(work.help(60s), Fault);
  EXPECT_EQ(ended, 1);
  work.begin(makeTasks(1, ended));
  EXPECT_TRUE(work.help(60s));
  EXPECT_EQ(ended, 2);
}

} // namespace
