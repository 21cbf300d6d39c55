// Tests of matching collectives.

#include "compiler/interpreter/Rendezvous.h"

#include "gmock/gmock.h"

using namespace titan::interpreter;
using ::testing::HasSubstr;

namespace {

Call makeCall(std::vector<int64_t> group, std::string signature, std::string position = "train") {
  return {std::move(group), std::move(signature), std::move(position)};
}

Lane getLane(std::vector<int64_t> group) {
  return makeCall(std::move(group), "").getLane();
}

// No rank proceeds until all ranks of the group have called; then all do.
TEST(Rendezvous, WaitsForTheWholeGroup) {
  Rendezvous rendezvous(4);
  EXPECT_FALSE(rendezvous.post(0, makeCall({0, 2}, "gather")));
  EXPECT_FALSE(rendezvous.findComplete(0));
  EXPECT_FALSE(rendezvous.post(1, makeCall({1, 3}, "gather")));
  EXPECT_FALSE(rendezvous.findComplete(0));
  EXPECT_FALSE(rendezvous.post(2, makeCall({0, 2}, "gather")));
  EXPECT_TRUE(rendezvous.findComplete(0));
  EXPECT_TRUE(rendezvous.findComplete(2));
  EXPECT_FALSE(rendezvous.findComplete(1));
  EXPECT_FALSE(rendezvous.release(getLane({0, 2})));
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
  EXPECT_FALSE(rendezvous.findComplete(0));
  EXPECT_FALSE(rendezvous.post(2, makeCall({1, 2}, "reduce")));
  EXPECT_TRUE(rendezvous.findComplete(1));
}

// Calls of one group happen in the order of the rank's calls; other groups do not wait for them.
TEST(Rendezvous, KeepsTheOrderOfCallsInAGroup) {
  Rendezvous rendezvous(3);
  EXPECT_FALSE(rendezvous.post(0, makeCall({0, 1}, "gather")));
  EXPECT_FALSE(rendezvous.post(0, makeCall({0, 2}, "reduce")));
  EXPECT_FALSE(rendezvous.post(0, makeCall({0, 1}, "scatter")));
  EXPECT_FALSE(rendezvous.post(2, makeCall({0, 2}, "reduce")));
  EXPECT_EQ(rendezvous.findComplete(0), getLane({0, 2}));
  EXPECT_EQ(rendezvous.findComplete(2), getLane({0, 2}));
  EXPECT_FALSE(rendezvous.release(getLane({0, 2})));
  EXPECT_FALSE(rendezvous.findComplete(0));
  EXPECT_FALSE(rendezvous.post(1, makeCall({0, 1}, "gather")));
  EXPECT_EQ(rendezvous.findComplete(1), getLane({0, 1}));
  EXPECT_FALSE(rendezvous.release(getLane({0, 1})));
  EXPECT_FALSE(rendezvous.findComplete(0));
  EXPECT_TRUE(rendezvous.isWaiting(0));
}

// The directions between two ranks, and a collective of both, are three lanes. The ends of a
// message are different operations.
TEST(Rendezvous, MatchesTheEndsOfMessages) {
  Rendezvous rendezvous(2);
  auto makeEnd = [](std::vector<int64_t> ranks, std::string signature, std::string operation) {
    return Call{std::move(ranks), std::move(signature), "train", std::move(operation)};
  };
  EXPECT_FALSE(rendezvous.post(0, makeEnd({0, 1}, "4 f64", "dist.send")));
  EXPECT_FALSE(rendezvous.post(1, makeEnd({1, 0}, "8 f64", "dist.send")));
  EXPECT_FALSE(rendezvous.post(1, makeCall({0, 1}, "gather")));
  EXPECT_FALSE(rendezvous.findComplete(1));
  EXPECT_FALSE(rendezvous.post(0, makeEnd({1, 0}, "8 f64", "dist.receive")));
  EXPECT_EQ(rendezvous.findComplete(0), (Lane{{1, 0}, /*isForMessages=*/true}));
  auto problem = rendezvous.post(1, makeEnd({0, 1}, "2 f64", "dist.receive"));
  ASSERT_TRUE(problem);
  EXPECT_THAT(*problem, HasSubstr("dist.send of 4 f64 from rank 0 to rank 1"));
  EXPECT_THAT(*problem, HasSubstr("dist.receive of 2 f64 from rank 0 to rank 1"));
}

// Mismatched calls are detected when they are next.
TEST(Rendezvous, ComparesQueuedCalls) {
  Rendezvous rendezvous(2);
  EXPECT_FALSE(rendezvous.post(0, makeCall({0, 1}, "gather")));
  EXPECT_FALSE(rendezvous.post(0, makeCall({0, 1}, "reduce")));
  EXPECT_FALSE(rendezvous.post(1, makeCall({0, 1}, "gather")));
  EXPECT_FALSE(rendezvous.post(1, makeCall({0, 1}, "scatter")));
  EXPECT_THAT(rendezvous.release(getLane({0, 1})).value_or(""),
              HasSubstr("collectives do not match"));
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
