// Distribution of work queues over threads.
#include "threads/Team.h"

#include <gtest/gtest.h>

#include <omp.h>
#include <vector>

using namespace titan;
using namespace titan::rt;

namespace {

constexpr int64_t kCounts[] = {1, 0, 2, 7, 1000, 3, 64};

// Consecutive rounds of every length; more threads than cores arrive late.
TEST(Team, RunsEveryItemOnce) {
  for (int threads : {2, 3, 8, 70}) {
    WorkQueues queues;
    std::vector<std::vector<int>> done;
    for (int64_t count : kCounts)
      done.emplace_back(count, 0);
#pragma omp parallel num_threads(threads)
    {
      Team team(queues, omp_get_num_threads(), omp_get_thread_num());
      for (std::vector<int> &round : done)
        team.parallelFor(static_cast<int64_t>(round.size()), [&](int64_t item) {
#pragma omp atomic
          ++round[item];
        });
    }
    for (const std::vector<int> &round : done)
      for (int times : round)
        EXPECT_EQ(times, 1) << threads << " threads, " << round.size() << " queues";
  }
}

// Other threads take the items of an absent thread's range, from the back.
TEST(WorkQueues, ItemsOfAbsentThreadsAreStolen) {
  WorkQueues queues;
  for (uint64_t round : {1, 2}) {
    std::vector<int64_t> taken;
    while (auto item = queues.take(round, 7, 0, 2, true))
      taken.push_back(*item);
    while (auto item = queues.take(round, 7, 1, 2, false))
      taken.push_back(*item);
    EXPECT_EQ(taken, (std::vector<int64_t>{0, 1, 2, 6, 5, 4, 3})) << "round " << round;
  }
}

TEST(WorkQueues, HoldsTheMaximumOfItems) {
  WorkQueues queues;
  EXPECT_EQ(queues.take(1, WorkQueues::kMaxItems, 63, 64, false), WorkQueues::kMaxItems - 1);
  EXPECT_EQ(queues.take(1, WorkQueues::kMaxItems, 63, 64, true), WorkQueues::kMaxItems / 64 * 63);
}

} // namespace
