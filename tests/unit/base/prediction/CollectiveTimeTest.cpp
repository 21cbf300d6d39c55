#include "base/prediction/CollectiveTime.h"

#include "base/Error.h"
#include "tests/unit/base/prediction/Machines.h"

#include <gtest/gtest.h>

using namespace titan;
using Kind = CollectiveWork::Kind;

namespace {

const Mesh fourNodes({{"dp", 4}, {"tp", 4}}); // four nodes

double getSeconds(Kind kind, std::vector<int> axes, double bytes) {
  return getCollectiveTime({kind, std::move(axes), bytes, 1}, fourNodes, makeMachine()).seconds;
}

TEST(CollectiveTime, UsesTheLinkOfTheNode) {
  EXPECT_DOUBLE_EQ(getSeconds(Kind::AllGather, {1}, 100e9), 1 + 3e-6);
  EXPECT_DOUBLE_EQ(getSeconds(Kind::ReduceScatter, {1}, 100e9), 1 + 3e-6);
  EXPECT_DOUBLE_EQ(getSeconds(Kind::AllReduce, {1}, 100e9), 1 + 4e-6); // a tree, there and back
}

TEST(CollectiveTime, UsesTheNetworkBetweenNodes) {
  EXPECT_DOUBLE_EQ(getSeconds(Kind::AllGather, {0}, 10e9), 1 + 3 * 10e-6);
  EXPECT_DOUBLE_EQ(getCollectiveTime({Kind::AllGather, {0}, 1, 1}, fourNodes, makeMachine()).stolen,
                   0.2);
}

TEST(CollectiveTime, RanksOfANodeSendTogether) {
  // All 16 ranks: the adapters of four ranks carry a ring's bytes together, in 2.5 s; the links of
  // the node need 1 s.
  EXPECT_NEAR(getSeconds(Kind::AllGather, {0, 1}, 100e9), 2.5, 1e-4);
}

TEST(CollectiveTime, AllToAllSendsMostToOtherNodes) {
  // 12 of 15 parts leave the node.
  EXPECT_NEAR(getSeconds(Kind::AllToAll, {0, 1}, 15e9), 12e9 / 10e9, 1e-4);
}

TEST(CollectiveTime, EachMessageHasItsLatency) {
  const CollectiveWork work{Kind::Permute, {1}, 0, 7};
  EXPECT_DOUBLE_EQ(getCollectiveTime(work, fourNodes, makeMachine()).seconds, 7e-6);
}

TEST(CollectiveTime, OneRankNeedsNoTime) {
  const Mesh one({{"tp", 1}});
  EXPECT_EQ(getCollectiveTime({Kind::AllReduce, {0}, 0, 1}, one, makeMachine()).seconds, 0);
}

TEST(CollectiveTime, MessagesUseTheClosestLink) {
  EXPECT_DOUBLE_EQ(getMessageSeconds(100e9, 0, 3, makeMachine()), 1 + 1e-6);
  EXPECT_DOUBLE_EQ(getMessageSeconds(10e9, 3, 4, makeMachine()), 1 + 10e-6);
}

TEST(CollectiveTime, NeedsALink) {
  Machine machine = makeMachine();
  machine.links.pop_back();
  EXPECT_THROW(getMessageSeconds(1, 0, 4, machine), UserError);
  machine.links.clear();
  EXPECT_THROW(getMessageSeconds(1, 0, 1, machine), UserError);
}

} // namespace
