// The axes of a mesh whose groups cross nodes.
#include "base/layout/Topology.h"
#include "base/layout/Mesh.h"

#include <gtest/gtest.h>

#include <random>

using namespace titan;

namespace {

using Flags = std::vector<bool>;
using Order = std::vector<size_t>;

// The inner axis of a node's size stays within nodes; outer ones cross them.
TEST(Topology, AxesAcrossNodes) {
  EXPECT_EQ(findAxesAcrossNodes({4, 8}, 8), (Flags{true, false}));
  EXPECT_EQ(findAxesAcrossNodes({8, 4}, 8), (Flags{true, false}));
  EXPECT_EQ(findAxesAcrossNodes({4, 2, 4}, 8), (Flags{true, false, false}));
  EXPECT_EQ(findAxesAcrossNodes({4, 1, 8}, 4), (Flags{true, false, true}));
  EXPECT_EQ(findAxesAcrossNodes({3}, 4), (Flags{true}));
}

// The rule agrees with the groups of random meshes.
TEST(Topology, AgreesWithTheGroups) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<int64_t> degrees;
    std::vector<MeshAxis> axes;
    for (int i = 0; i < 3; ++i) {
      degrees.push_back(1 + int64_t(random() % 5));
      axes.push_back({"a" + std::to_string(i), static_cast<int>(degrees.back())});
    }
    Mesh mesh(axes);
    const int nodeCount = 1 + static_cast<int>(random() % 6);
    if (mesh.size() % nodeCount)
      continue;
    const int ranksPerNode = mesh.size() / nodeCount;
    const Flags across = findAxesAcrossNodes(degrees, ranksPerNode);
    for (int axis = 0; axis < 3; ++axis) {
      bool crosses = false;
      for (int rank = 0; rank < mesh.size(); ++rank)
        for (int member : mesh.group(rank, std::vector<int>{axis}))
          crosses |= member / ranksPerNode != rank / ranksPerNode;
      EXPECT_EQ(across[axis], crosses) << mesh.describe() << ", " << ranksPerNode << " a node";
    }
  }
}

// The axis with most traffic moves inside; axes that cross nodes anyway keep their order.
TEST(Topology, BetterOrder) {
  EXPECT_EQ(findBetterOrder({{"tp", 8, 900}, {"shard", 4, 100}}, 8), (Order{1, 0}));
  EXPECT_EQ(findBetterOrder({{"shard", 4, 100}, {"tp", 8, 900}}, 8), std::nullopt);
  EXPECT_EQ(findBetterOrder({{"tp", 4, 900}, {"pp", 2, 5}, {"shard", 4, 100}}, 4),
            (Order{1, 2, 0}));
  // Too large for a node in any order; the other axis has less traffic.
  EXPECT_EQ(findBetterOrder({{"tp", 16, 900}, {"shard", 2, 100}}, 8), std::nullopt);
  EXPECT_EQ(findBetterOrder({{"shard", 4, 100}, {"tp", 8, 900}}, 4), std::nullopt);
  // Equal traffic: the order that was given.
  EXPECT_EQ(findBetterOrder({{"a", 4, 7}, {"b", 4, 7}}, 4), std::nullopt);
}

} // namespace
