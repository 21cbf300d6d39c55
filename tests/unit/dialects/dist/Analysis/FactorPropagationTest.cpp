// Shardings that propagate from one tensor to others, and conflicts between them.

#include "dialects/dist/Analysis/FactorPropagation.h"
#include "Rules.h"
#include "gmock/gmock.h"

using namespace titan::dist;
using namespace titan::dist::test;
using testing::ElementsAre;

namespace {

FactorTensor makeTensor(std::vector<FactorDim> dims, int dim = kReplicated, bool fixed = false) {
  return {std::move(dims), {dim}, 0, fixed};
}

/// x[seq, embed], w[embed, ffn] and y[seq, ffn] of one matrix product; the axis shards dimension
/// `xDim` of x and `wDim` of w.
FactorGraph getMatmul(int xDim, int wDim, std::vector<std::string> preference = {}) {
  return {{{"a", 2, std::move(preference)}},
          {makeTensor({kSeq, kEmbed}, xDim, xDim != kReplicated),
           makeTensor({kEmbed, kFfn}, wDim, wDim != kReplicated), makeTensor({kSeq, kFfn})},
          {{getMatmulRule(), {0, 1}, {2}}}};
}

/// A sharding of an operand's own dimension reaches the result.
TEST(FactorPropagation, Forward) {
  FactorGraph graph = getMatmul(0, kReplicated);
  propagateFactors(graph);
  EXPECT_THAT(graph.tensors[2].dimOfAxis, ElementsAre(0));
  EXPECT_THAT(graph.tensors[1].dimOfAxis, ElementsAre(kReplicated));
}

/// A sharding of a reduction dimension reaches the other operand.
TEST(FactorPropagation, Sideways) {
  FactorGraph graph = getMatmul(kReplicated, 0);
  propagateFactors(graph);
  EXPECT_THAT(graph.tensors[0].dimOfAxis, ElementsAre(1));
  EXPECT_THAT(graph.tensors[2].dimOfAxis, ElementsAre(kReplicated));
}

/// In a conflict, the dimension that the axis rules list first wins.
TEST(FactorPropagation, ConflictsFollowTheAxisRules) {
  FactorGraph graph = getMatmul(0, 1, {"ffn", "seq"});
  propagateFactors(graph);
  EXPECT_THAT(graph.tensors[2].dimOfAxis, ElementsAre(1));
  graph = getMatmul(0, 1, {"seq", "ffn"});
  propagateFactors(graph);
  EXPECT_THAT(graph.tensors[2].dimOfAxis, ElementsAre(0));
}

/// A tensor waits for its preferred dimension: y gets ffn from its user, not seq from x.
TEST(FactorPropagation, WaitsForTheBestDimension) {
  FactorGraph graph = getMatmul(0, kReplicated, {"ffn", "seq"});
  ShardingRule rule{{{"seq", "", 8, FactorKind::Parallel, {0}, {0}},
                     {"ffn", "", 32, FactorKind::Parallel, {1}, {1}}}};
  graph.tensors.push_back(makeTensor({kSeq, kFfn}, 1, true));
  graph.nodes.push_back({rule, {2}, {3}});
  propagateFactors(graph);
  EXPECT_THAT(graph.tensors[2].dimOfAxis, ElementsAre(1));
}

/// Fixed tensors do not change, and neither do dimensions that the degree does not divide.
TEST(FactorPropagation, LeavesFixedAndIndivisible) {
  FactorGraph graph = getMatmul(0, kReplicated);
  graph.tensors[2].fixed = true;
  propagateFactors(graph);
  EXPECT_THAT(graph.tensors[2].dimOfAxis, ElementsAre(kReplicated));
  graph = getMatmul(0, kReplicated);
  graph.axes[0].degree = 3;
  propagateFactors(graph);
  EXPECT_THAT(graph.tensors[2].dimOfAxis, ElementsAre(kReplicated));
}

/// An operation whose result is stored flat works on flat storage.
TEST(FactorPropagation, FlatStorageBackward) {
  FactorGraph graph{{{"a", 2, {}}},
                    {makeTensor({kSeq}), makeTensor({}), makeTensor({kSeq}, kFlat, true)},
                    {{getAddRule(), {0, 1}, {2}}}};
  propagateFactors(graph);
  EXPECT_THAT(graph.tensors[0].dimOfAxis, ElementsAre(kFlat));
  EXPECT_THAT(graph.tensors[1].dimOfAxis, ElementsAre(kReplicated));
}

/// Flat storage propagates forward through elementwise operations, and no further.
TEST(FactorPropagation, FlatStorageThroughElementwise) {
  FactorGraph graph{
      {{"a", 2, {}}},
      {makeTensor({kSeq}, kFlat, true), makeTensor({kSeq}, kFlat, true), makeTensor({kSeq})},
      {{getAddRule(), {0, 1}, {2}}}};
  propagateFactors(graph);
  EXPECT_THAT(graph.tensors[2].dimOfAxis, ElementsAre(kFlat));
  graph.tensors[2] = makeTensor({kSeq});
  graph.nodes[0].rule.isElementwise = false;
  propagateFactors(graph);
  EXPECT_THAT(graph.tensors[2].dimOfAxis, ElementsAre(kReplicated));
}

} // namespace
