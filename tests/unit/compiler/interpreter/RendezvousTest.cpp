//===- RendezvousTest.cpp - Tests of matching collectives -----------------===//

#include "compiler/interpreter/Rendezvous.h"

#include "gmock/gmock.h"

using namespace titan::interpreter;
using ::testing::HasSubstr;

namespace {

Call makeCall(std::vector<int64_t> group, std::string what, std::string position = "train") {
  return {std::move(group), std::move(what), std::move(position)};
}

// No rank proceeds until all ranks of the group have called; then all do.
TEST(Rendezvous, WaitsForTheWholeGroup) {
  Rendezvous rendezvous(4);
  EXPECT_FALSE(rendezvous.post(0, makeCall({0, 2}, "gather")));
  EXPECT_FALSE(rendezvous.isComplete(0));
  EXPECT_FALSE(rendezvous.post(1, makeCall({1, 3}, "gather")));
  EXPECT_FALSE(rendezvous.isComplete(0));
  EXPECT_FALSE(rendezvous.post(2, makeCall({0, 2}, "gather")));
  EXPECT_TRUE(rendezvous.isComplete(0));
  EXPECT_TRUE(rendezvous.isComplete(2));
  EXPECT_FALSE(rendezvous.isComplete(1));
  EXPECT_FALSE(rendezvous.release(2));
  EXPECT_FALSE(rendezvous.isWaiting(0));
  EXPECT_FALSE(rendezvous.isWaiting(2));
  EXPECT_TRUE(rendezvous.isWaiting(1));
}

// Two ranks of a group at different operations: the message contains both positions.
TEST(Rendezvous, ReportsDifferentCalls) {
  Rendezvous rendezvous(2);
  EXPECT_FALSE(rendezvous.post(0, makeCall({0, 1}, "all_reduce of 4", "here")));
  auto problem = rendezvous.post(1, makeCall({0, 1}, "all_reduce of 8", "there"));
  ASSERT_TRUE(problem);
  EXPECT_THAT(*problem, HasSubstr("rank 0 at here: all_reduce of 4 over ranks [0, 1]"));
  EXPECT_THAT(*problem, HasSubstr("rank 1 at there: all_reduce of 8 over ranks [0, 1]"));
}

// The same members in another order would get wrong shards.
TEST(Rendezvous, ReportsDifferentOrders) {
  Rendezvous rendezvous(2);
  EXPECT_FALSE(rendezvous.post(0, makeCall({0, 1}, "gather")));
  EXPECT_TRUE(rendezvous.post(1, makeCall({1, 0}, "gather")));
}

// Waiting in different groups is no mismatch: the other group may complete first.
TEST(Rendezvous, LeavesOtherGroupsAlone) {
  Rendezvous rendezvous(3);
  EXPECT_FALSE(rendezvous.post(0, makeCall({0, 1}, "gather")));
  EXPECT_FALSE(rendezvous.post(1, makeCall({1, 2}, "reduce")));
  EXPECT_FALSE(rendezvous.isComplete(0));
  EXPECT_FALSE(rendezvous.post(2, makeCall({1, 2}, "reduce")));
  EXPECT_TRUE(rendezvous.isComplete(1));
}

// Calls before a wait happen in the order of the rank's calls, even if a later one is complete.
TEST(Rendezvous, KeepsTheOrderOfCalls) {
  Rendezvous rendezvous(3);
  EXPECT_FALSE(rendezvous.post(0, makeCall({0, 1}, "gather")));
  EXPECT_FALSE(rendezvous.post(0, makeCall({0, 2}, "reduce")));
  EXPECT_FALSE(rendezvous.post(2, makeCall({0, 2}, "reduce")));
  EXPECT_FALSE(rendezvous.isComplete(2));
  EXPECT_FALSE(rendezvous.post(1, makeCall({0, 1}, "gather")));
  EXPECT_TRUE(rendezvous.isComplete(1));
  EXPECT_FALSE(rendezvous.release(1));
  EXPECT_TRUE(rendezvous.isComplete(2));
}

// Mismatched calls are detected when they are next.
TEST(Rendezvous, ComparesQueuedCalls) {
  Rendezvous rendezvous(2);
  EXPECT_FALSE(rendezvous.post(0, makeCall({0, 1}, "gather")));
  EXPECT_FALSE(rendezvous.post(0, makeCall({0, 1}, "reduce")));
  EXPECT_FALSE(rendezvous.post(1, makeCall({0, 1}, "gather")));
  EXPECT_FALSE(rendezvous.post(1, makeCall({0, 1}, "scatter")));
  EXPECT_THAT(rendezvous.release(0).value_or(""), HasSubstr("collectives do not match"));
}

// The message of a deadlock lists every rank's position.
TEST(Rendezvous, DescribesDeadlocks) {
  Rendezvous rendezvous(2);
  rendezvous.finish(0);
  EXPECT_FALSE(rendezvous.post(1, makeCall({0, 1}, "gather", "end")));
  std::string text = rendezvous.describeDeadlock();
  EXPECT_THAT(text, HasSubstr("rank 0 has finished"));
  EXPECT_THAT(text, HasSubstr("rank 1 at end: gather over ranks [0, 1]"));
}

} // namespace
