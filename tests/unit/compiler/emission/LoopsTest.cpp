// Sizes as products, and merged loops over index spaces.

#include "compiler/emission/Loops.h"

#include "gtest/gtest.h"

using namespace titan::emission;

namespace {

const IndexDim kBatch{"batch", SizeExpr(SizeFactor{"batch", 0})},
    kSeq{"seq", SizeExpr(SizeFactor{"seq", 8})}, kEmbed{"embed", SizeExpr(SizeFactor{"embed", 4})};

// Sizes are equal if their values are equal for every degree; the names of known factors do not
// matter.
TEST(SizeExpr, ComparesByValue) {
  SizeExpr a = SizeExpr(SizeFactor{"a", 6}),
           b = SizeExpr(SizeFactor{"b", 2}) * SizeExpr(SizeFactor{"c", 3});
  EXPECT_TRUE(a == b);
  EXPECT_FALSE(a == kBatch.size);
  EXPECT_TRUE(kBatch.size * a == b * kBatch.size);
  EXPECT_EQ((kBatch.size * a).getValue(), std::nullopt);
  EXPECT_EQ((a * b).getValue(), 36);
}

// Factors of 1 are omitted; a product that is itself a factor is in parentheses.
TEST(SizeExpr, OmitsFactorsOfOne) {
  SizeExpr one = SizeExpr(SizeFactor{"group", 1}), a = SizeExpr(SizeFactor{"a", 6});
  EXPECT_EQ((one * a).str(), "a");
  EXPECT_EQ(one.str(), "1");
  EXPECT_EQ(scale("i", one), "i");
  EXPECT_EQ(scale("i", a * a), "i * (a * a)");
}

// Neighbouring dimensions that are contiguous in all tensors become one loop.
TEST(Loops, MergeIfAllAccessesAllowIt) {
  Access whole = makeAccess("x", {kBatch, kSeq, kEmbed});
  auto one = makeLoops({kBatch, kSeq, kEmbed}, {&whole});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].size.str(), "batch * seq * embed");
  Access row = makeAccess("r", {kBatch, kSeq});
  auto two = makeLoops({kBatch, kSeq, kEmbed}, {&whole, &row});
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].size.str(), "batch * seq");
  Access swapped = makeAccess("t", {kSeq, kBatch, kEmbed});
  EXPECT_EQ(makeLoops({kBatch, kSeq, kEmbed}, {&whole, &swapped}).size(), 3u);
}

// The offset of an element has one term for each loop over a dimension of its tensor.
TEST(Loops, WriteOffsets) {
  Access row = makeAccess("r", {kBatch, kSeq}), whole = makeAccess("x", {kBatch, kSeq, kEmbed});
  auto loops = makeLoops({kBatch, kSeq, kEmbed}, {&whole, &row});
  loops[0].variable = "i";
  loops[1].variable = "j";
  EXPECT_EQ(getElement(whole, loops), "x[i * embed + j]");
  EXPECT_EQ(getElement(row, loops), "r[i]");
}

// The element of an index tensor is its offset, also in a shard and for a single element.
TEST(Loops, IndexAccesses) {
  Access index = makeAccess("", {kSeq});
  index.isIndex = true;
  auto loops = makeLoops({kBatch, kSeq}, {&index});
  ASSERT_EQ(loops.size(), 2u);
  loops[1].variable = "j";
  EXPECT_EQ(getElement(index, loops), "j");
  EXPECT_EQ(getElement(index, {}), "int64_t(0)");
  advance(index, "3");
  EXPECT_EQ(getElement(index, loops), "(j + 3)");
  EXPECT_EQ(getElement(index, {}), "int64_t(3)");
  Access shard = makeAccess("seq_tp_start_", {kSeq});
  shard.isIndex = true;
  EXPECT_EQ(getElement(shard, loops), "(j + seq_tp_start_)");
  EXPECT_EQ(getElementAt(shard, "at_"), "(at_ + seq_tp_start_)");
}

} // namespace
