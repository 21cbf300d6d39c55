// Minimum cuts of known graphs, and of random ones beside an exhaustive search.

#include "dialects/titan/Transforms/Gradient/MinimumCut.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

using namespace titan::ir;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

struct Graph {
  std::vector<int64_t> weights;
  std::vector<std::pair<unsigned, unsigned>> edges; // from lower to higher numbers
  std::vector<unsigned> sources, sinks;

  std::vector<unsigned> cut() const {
    MinimumCut cut;
    for (int64_t weight : weights)
      cut.addNode(weight);
    for (auto [from, to] : edges)
      cut.addEdge(from, to);
    for (unsigned node : sources)
      cut.addSource(node);
    for (unsigned node : sinks)
      cut.addSink(node);
    return cut.run();
  }

  int64_t getWeight(unsigned mask) const {
    int64_t sum = 0;
    for (unsigned node = 0; node < weights.size(); ++node)
      sum += mask >> node & 1U ? weights[node] : 0;
    return sum;
  }

  /// Whether no path remains without the nodes of `mask`.
  bool separates(unsigned mask) const {
    std::vector<bool> reached(weights.size());
    for (unsigned node : sources)
      reached[node] = true;
    for (unsigned node = 0; node < weights.size(); ++node) {
      reached[node] = reached[node] && !(mask >> node & 1U);
      for (auto [from, to] : edges)
        if (from == node && reached[node])
          reached[to] = true;
    }
    return std::none_of(sinks.begin(), sinks.end(), [&](unsigned node) { return reached[node]; });
  }
};

} // namespace

TEST(MinimumCutTest, NothingIsCutWithoutAPath) {
  EXPECT_THAT((Graph{{1, 1}, {}, {0}, {1}}.cut()), IsEmpty());
  EXPECT_THAT((Graph{{}, {}, {}, {}}.cut()), IsEmpty());
}

TEST(MinimumCutTest, TakesTheNarrowestNode) {
  EXPECT_THAT((Graph{{3, 2, 4}, {{0, 1}, {1, 2}}, {0}, {2}}.cut()), ElementsAre(1));
}

TEST(MinimumCutTest, TakesTheNodeNearestToTheSinkOfEqualOnes) {
  EXPECT_THAT((Graph{{2, 2, 2}, {{0, 1}, {1, 2}}, {0}, {2}}.cut()), ElementsAre(2));
}

// A norm: the narrow input (0), the wide one (1), a number per row (2), the normalised rows (3).
// The input and the number suffice for both wide values.
TEST(MinimumCutTest, TakesSharedOperandsOfSeveralSinks) {
  EXPECT_THAT((Graph{{16, 32, 1, 32}, {{0, 1}, {1, 3}, {2, 3}}, {0, 2}, {1, 3}}.cut()),
              ElementsAre(0, 2));
}

TEST(MinimumCutTest, TakesANodeThatIsSourceAndSink) {
  EXPECT_THAT((Graph{{5}, {}, {0}, {0}}.cut()), ElementsAre(0));
}

TEST(MinimumCutTest, EqualsAnExhaustiveSearch) {
  std::mt19937 random(1);
  auto draw = [&](unsigned below) { return random() % below; };
  for (int trial = 0; trial < 300; ++trial) {
    Graph graph;
    unsigned count = 2 + draw(9);
    for (unsigned node = 0; node < count; ++node) {
      graph.weights.push_back(draw(8));
      for (unsigned from = 0; from < node; ++from)
        if (draw(3) == 0)
          graph.edges.push_back({from, node});
      if (draw(3) == 0)
        graph.sources.push_back(node);
      if (draw(3) == 0)
        graph.sinks.push_back(node);
    }
    int64_t least = graph.getWeight((1U << count) - 1);
    for (unsigned mask = 0; mask < 1U << count; ++mask)
      if (graph.separates(mask))
        least = std::min(least, graph.getWeight(mask));
    unsigned found = 0;
    for (unsigned node : graph.cut())
      found |= 1U << node;
    ASSERT_TRUE(graph.separates(found)) << "trial " << trial;
    ASSERT_EQ(graph.getWeight(found), least) << "trial " << trial;
  }
}
