// Coordinates of ranks in a mesh, and the groups of ranks along its axes.
#include "base/layout/Mesh.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

using namespace titan;

namespace {

using Ranks = std::vector<int>;

Ranks group(const Mesh &mesh, int rank, std::vector<int> axes) {
  return mesh.group(rank, axes);
}

// Groups of the inner axis are contiguous, those of outer axes strided.
TEST(Mesh, GroupsOfFourAxes) {
  Mesh mesh({{"pp", 3}, {"dp", 4}, {"cp", 1}, {"tp", 8}});
  EXPECT_EQ(mesh.size(), 96);
  EXPECT_EQ(group(mesh, 0, {3}), (Ranks{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(group(mesh, 13, {3}), (Ranks{8, 9, 10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(group(mesh, 0, {1}), (Ranks{0, 8, 16, 24}));
  EXPECT_EQ(group(mesh, 0, {0}), (Ranks{0, 32, 64}));
  EXPECT_EQ(group(mesh, 5, {2}), (Ranks{5}));
}

// Coordinates and ranks are inverse functions.
TEST(Mesh, CoordinatesRoundTrip) {
  Mesh mesh({{"a", 2}, {"b", 3}, {"c", 4}});
  EXPECT_EQ(mesh.coordinates(0), (Ranks{0, 0, 0}));
  EXPECT_EQ(mesh.coordinates(5), (Ranks{0, 1, 1}));
  EXPECT_EQ(mesh.coordinates(23), (Ranks{1, 2, 3}));
  for (int rank = 0; rank < mesh.size(); ++rank)
    EXPECT_EQ(mesh.rank(mesh.coordinates(rank)), rank);
}

// A group has the order of its list of axes, not of the mesh: the shards of a dimension over (b, a)
// have another order than over (a, b).
TEST(Mesh, OrderOfAxesIsOrderOfRanks) {
  Mesh mesh({{"a", 2}, {"b", 2}});
  EXPECT_EQ(group(mesh, 0, {0, 1}), (Ranks{0, 1, 2, 3}));
  EXPECT_EQ(group(mesh, 0, {1, 0}), (Ranks{0, 2, 1, 3}));
}

// For every subset of axes the groups partition the ranks, and each rank knows its position.
TEST(Mesh, GroupsPartitionTheRanks) {
  Mesh mesh({{"a", 2}, {"b", 3}, {"c", 2}});
  std::vector<std::vector<int>> subsets = {{}, {0}, {1}, {2}, {0, 1}, {2, 0}, {1, 2}, {2, 1, 0}};
  for (const auto &axes : subsets) {
    std::multiset<int> covered;
    std::set<Ranks> groups;
    for (int rank = 0; rank < mesh.size(); ++rank) {
      Ranks members = mesh.group(rank, axes);
      EXPECT_EQ(members[mesh.indexInGroup(rank, axes)], rank);
      groups.insert(members);
    }
    for (const Ranks &members : groups)
      covered.insert(members.begin(), members.end());
    EXPECT_EQ(covered.size(), static_cast<size_t>(mesh.size()));
    EXPECT_EQ(std::set<int>(covered.begin(), covered.end()).size(), covered.size());
  }
}

// The description omits axes of degree one.
TEST(Mesh, Describe) {
  EXPECT_EQ(Mesh({{"shard", 2}, {"cp", 1}, {"tp", 2}}).describe(), "shard 2 x tp 2");
  EXPECT_EQ(Mesh({{"shard", 1}}).describe(), "1");
}

// Invalid meshes and axis lists are rejected.
TEST(Mesh, RefusesInvalidMeshesAndAxes) {
  EXPECT_THROW(Mesh({{"a", 0}}), std::invalid_argument);
  Mesh mesh({{"a", 2}, {"b", 2}});
  EXPECT_THROW(group(mesh, 0, {2}), std::invalid_argument);
  EXPECT_THROW(group(mesh, 0, {1, 1}), std::invalid_argument);
  EXPECT_THROW(mesh.axisIndex("c"), std::invalid_argument);
}

} // namespace
