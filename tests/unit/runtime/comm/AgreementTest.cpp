// The agreement of ranks and the root cause of a failure, with threads as ranks.
#include "ThreadRendezvous.h"

#include "comm/Agreement.h"
#include "comm/RootCause.h"

#include "gtest/gtest.h"

#include <thread>

using namespace titan;
using namespace titan::rt;
using titan::test::ThreadRendezvous;
using titan::test::ThreadStore;

namespace {

/// One process that connects as a rank.
struct RankAttempt {
  int rank, size;
  std::string rate = "0.001", mistake = "", job = "";
};

struct Outcome {
  std::string error, prefix;
  bool isUserError = false, isOnAllRanks = false;
};

/// The outcomes of processes that try to agree within `limit` milliseconds.
std::vector<Outcome> agreeAmong(const std::vector<RankAttempt> &attempts, ThreadStore &store,
                                int limit = 20000) {
  std::vector<Outcome> outcomes(attempts.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < attempts.size(); ++i)
    threads.emplace_back([&, i] {
      const RankAttempt &attempt = attempts[i];
      ThreadRendezvous rendezvous(store);
      rendezvous.setTimeout(std::chrono::milliseconds(limit));
      LaunchInfo launch;
      launch.rank = attempt.rank;
      launch.worldSize = launch.localWorldSize = attempt.size;
      launch.job = attempt.job;
      RankRecord record;
      record.process = "process " + std::to_string(i);
      record.mistake = attempt.mistake;
      record.add("WORLD_SIZE", std::to_string(attempt.size));
      record.add("optimizer.lr", attempt.rate);
      try {
        agree(rendezvous, launch, record);
        outcomes[i].prefix = rendezvous.prefix;
      } catch (const UserError &error) {
        outcomes[i] = {error.what(), "", true, error.isOnAllRanks};
      } catch (const Fault &error) {
        outcomes[i] = {error.what(), ""};
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  return outcomes;
}

bool contains(const std::string &text, const std::string &phrase) {
  return text.find(phrase) != std::string::npos;
}

// Ranks with equal records continue under a random prefix, which differs between runs.
TEST(Agreement, LetsEqualRanksContinue) {
  std::string before;
  for (int run = 0; run < 2; ++run) {
    ThreadStore store;
    auto outcomes = agreeAmong({{0, 3}, {1, 3}, {2, 3}}, store);
    for (const Outcome &outcome : outcomes) {
      EXPECT_EQ(outcome.error, "");
      EXPECT_EQ(outcome.prefix, outcomes[0].prefix);
      EXPECT_GE(outcome.prefix.size(), 32u);
    }
    EXPECT_NE(outcomes[0].prefix, before);
    before = outcomes[0].prefix;
  }
}

// All ranks know of a difference; rank 0 and the differing ranks report it.
TEST(Agreement, RefusesRanksThatDiffer) {
  ThreadStore store;
  auto outcomes = agreeAmong({{0, 4}, {1, 4, "0.1"}, {2, 4}, {3, 4, "0.1"}}, store);
  for (const Outcome &outcome : outcomes) {
    EXPECT_TRUE(outcome.isUserError);
    EXPECT_TRUE(contains(outcome.error, "optimizer.lr: 0.001 on rank")) << outcome.error;
    EXPECT_TRUE(contains(outcome.error, ", 0.1 on rank")) << outcome.error;
  }
  EXPECT_FALSE(outcomes[1].isOnAllRanks);
  EXPECT_TRUE(outcomes[0].isOnAllRanks);
  EXPECT_TRUE(outcomes[2].isOnAllRanks);
}

// A difference is reported before all ranks have connected.
TEST(Agreement, DoesNotWaitForMissingRanks) {
  ThreadStore store;
  auto outcomes = agreeAmong({{0, 3}, {1, 2}}, store);
  for (const Outcome &outcome : outcomes)
    EXPECT_TRUE(contains(outcome.error, "WORLD_SIZE: 3 on rank 0, 2 on rank 1")) << outcome.error;
}

TEST(Agreement, ReportsMistakesOfOneRankToAll) {
  ThreadStore store;
  auto outcomes = agreeAmong({{0, 2}, {1, 2, "", "no such option"}}, store);
  for (const Outcome &outcome : outcomes)
    EXPECT_TRUE(contains(outcome.error, "rank 1 cannot start: no such option")) << outcome.error;
  ThreadStore other;
  for (const Outcome &outcome :
       agreeAmong({{0, 2, "", "no such option"}, {1, 2, "", "no such option"}}, other))
    EXPECT_EQ(outcome.error, ""); // each rank reports its own once
}

TEST(Agreement, NamesMissingRanks) {
  ThreadStore store;
  auto outcomes = agreeAmong({{0, 4}, {2, 4}}, store, 300);
  for (const Outcome &outcome : outcomes) {
    EXPECT_FALSE(outcome.isUserError);
    EXPECT_TRUE(contains(outcome.error, "ranks 1, 3 of 4 did not connect")) << outcome.error;
  }
}

// It is refused whether it connects before or after the others have agreed.
TEST(Agreement, RefusesASecondProcessOfARank) {
  ThreadStore store;
  auto outcomes = agreeAmong({{0, 2}, {1, 2}, {1, 2}}, store);
  EXPECT_EQ(outcomes[0].error, "");
  EXPECT_NE(outcomes[1].error.empty(), outcomes[2].error.empty());
  for (const Outcome &late : agreeAmong({{1, 2}}, store)) {
    EXPECT_TRUE(contains(late.error, "has a rank 1 already, process ")) << late.error;
    EXPECT_FALSE(late.isOnAllRanks);
  }
}

// A rank of another job ends, and the rank of this job is accepted.
TEST(Agreement, RefusesOtherJobs) {
  ThreadStore store;
  auto outcomes = agreeAmong(
      {{0, 2, "1", "", "job 7"}, {1, 2, "1", "", "job 8"}, {1, 2, "1", "", "job 7"}}, store);
  EXPECT_EQ(outcomes[0].error, "");
  EXPECT_TRUE(contains(outcomes[1].error, "another job")) << outcomes[1].error;
  EXPECT_EQ(outcomes[2].error, "");
}

// Untrusted keys result in an error.
TEST(Agreement, RefusesForgedValues) {
  for (auto [key, value] : {std::pair("arrival/1", "GET / HTTP/1.1"), std::pair("arrival/1", ""),
                            std::pair("rank/1", "x")}) {
    ThreadStore store;
    store.values["arrivals"] = std::string(key) == "arrival/1" ? "1" : "0";
    store.values[key] = value;
    auto outcomes = agreeAmong({{0, 2}, {1, 2}}, store, 500);
    EXPECT_FALSE(outcomes[1].error.empty()) << key;
  }
}

// If rank 3 waits for 1 and 1 waits for 0, all report 0.
TEST(RootCause, IsTheMissingRank) {
  ThreadStore store;
  std::vector<std::string> reports(4);
  std::vector<std::thread> threads;
  const int waitsFor[] = {-1, 0, 0, 1};
  for (int rank = 1; rank < 4; ++rank)
    threads.emplace_back([&, rank] {
      ThreadRendezvous rendezvous(store);
      std::this_thread::sleep_for(std::chrono::milliseconds(rank == 3 ? 0 : 200));
      std::string message = "rank " + std::to_string(rank) + ": rank " +
                            std::to_string(waitsFor[rank]) + " did not come in time";
      reports[rank] = withRootCause(rendezvous, rank, 4, message, {waitsFor[rank], false}, [] {});
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(reports[1], "rank 1: rank 0 did not come in time");
  EXPECT_EQ(reports[3], "rank 3: rank 1 did not come in time; the first cause: "
                        "rank 1: rank 0 did not come in time");
}

// The failure of an ended rank is the root cause; in a cycle it is the first failure.
TEST(RootCause, IsTheFailedRankOrTheFirstOfACycle) {
  ThreadStore store;
  ThreadRendezvous a(store), b(store), c(store);
  EXPECT_EQ(withRootCause(a, 1, 3, "rank 1: the disk is full", {}, [] {}),
            "rank 1: the disk is full");
  EXPECT_EQ(withRootCause(b, 2, 3, "rank 2: rank 1 is gone", {1, true}, [] {}),
            "rank 2: rank 1 is gone; the first cause: rank 1: the disk is full");
  ThreadStore cycle;
  ThreadRendezvous d(cycle), e(cycle);
  cycle.values["failures"] = "1";
  cycle.values["failure/1"] = "1 2 rank 1: rank 2 did not come in time";
  EXPECT_EQ(withRootCause(d, 2, 3, "rank 2: rank 1 is gone", {1, true}, [] {}),
            "rank 2: rank 1 is gone; the first cause: rank 1: rank 2 did not come in time");
  cycle.values["failure/0"] = "\xff garbage";
  EXPECT_EQ(withRootCause(e, 1, 3, "rank 1: rank 0 is gone", {0, true}, [] {}),
            "rank 1: rank 0 is gone");
}

} // namespace
