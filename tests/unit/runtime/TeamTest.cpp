// How pieces of work are dealt out to threads.
#include "threads/Team.h"

#include <gtest/gtest.h>

#include <omp.h>
#include <vector>

using namespace titan;
using namespace titan::rt;

namespace {

constexpr int64_t kCounts[] = {1, 0, 2, 7, 1000, 3, 64};

// Rounds of every length follow each other; more threads than there are cores come late.
TEST(Team, DoesEveryPieceOnce) {
  for (int threads : {2, 3, 8, 70}) {
    Pieces pieces;
    std::vector<std::vector<int>> done;
    for (int64_t count : kCounts)
      done.emplace_back(count, 0);
#pragma omp parallel num_threads(threads)
    {
      Team team(pieces, omp_get_num_threads(), omp_get_thread_num());
      for (std::vector<int> &round : done)
        team.deal(static_cast<int64_t>(round.size()), [&](int64_t piece) {
#pragma omp atomic
          ++round[piece];
        });
    }
    for (const std::vector<int> &round : done)
      for (int times : round)
        EXPECT_EQ(times, 1) << threads << " threads, " << round.size() << " pieces";
  }
}

// What a range holds that no thread has come for goes to others, from the back.
TEST(Pieces, OfWhoDoesNotComeAreTaken) {
  Pieces pieces;
  for (uint64_t round : {1, 2}) {
    std::vector<int64_t> taken;
    while (auto piece = pieces.take(round, 7, 0, 2, true))
      taken.push_back(*piece);
    while (auto piece = pieces.take(round, 7, 1, 2, false))
      taken.push_back(*piece);
    EXPECT_EQ(taken, (std::vector<int64_t>{0, 1, 2, 6, 5, 4, 3})) << "round " << round;
  }
}

TEST(Pieces, AreAsManyAsAProductNeeds) {
  Pieces pieces;
  EXPECT_EQ(pieces.take(1, Pieces::kMost, 63, 64, false), Pieces::kMost - 1);
  EXPECT_EQ(pieces.take(1, Pieces::kMost, 63, 64, true), Pieces::kMost / 64 * 63);
}

} // namespace
