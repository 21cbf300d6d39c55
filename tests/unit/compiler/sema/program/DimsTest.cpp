// The dimensions of results of operations, by the names of dimensions.
#include "compiler/sema/program/Dims.h"

#include <gmock/gmock.h>

namespace titan::sema {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DimsTest : public ::testing::Test {
protected:
  DimTable dims;
  DimId batch = dims.add("batch", 8), seq = dims.add("seq", 256), embed = dims.add("embed", 64),
        heads = dims.add("heads", 4), head = dims.add("head", 16), vocab = dims.add("vocab", 97);
};

// A weight joins an activation that has all its dimensions; the larger side's order is the
// result's.
TEST_F(DimsTest, ElementwiseSubsetJoins) {
  Join join = joinElementwise({embed}, {batch, seq, embed});
  EXPECT_TRUE(join.valid());
  EXPECT_THAT(join.result, ElementsAre(batch, seq, embed));
}

// The same dimensions in another order are the same set; the left side's order wins.
TEST_F(DimsTest, ElementwiseIgnoresOrder) {
  Join join = joinElementwise({seq, batch}, {batch, seq});
  EXPECT_TRUE(join.valid());
  EXPECT_THAT(join.result, ElementsAre(seq, batch));
}

// Neither operand has all dimensions of the other: an accidental outer product. The error names the
// dimensions of each that the other lacks.
TEST_F(DimsTest, ElementwiseRefusesOuterProduct) {
  Join join = joinElementwise({batch, seq}, {seq, embed});
  EXPECT_FALSE(join.valid());
  EXPECT_THAT(join.onlyLeft, ElementsAre(batch));
  EXPECT_THAT(join.onlyRight, ElementsAre(embed));
}

// A projection sums what both have and the declared result lacks, in the declared order.
TEST_F(DimsTest, ContractionSumsShared) {
  Contraction c = contract({batch, seq, embed}, {embed, heads, head}, {batch, heads, seq, head});
  EXPECT_TRUE(c.valid());
  EXPECT_THAT(c.summed, ElementsAre(embed));
  EXPECT_THAT(c.result, ElementsAre(batch, heads, seq, head));
  EXPECT_THAT(c.absent, IsEmpty());
}

// A dimension of both operands and the result is a batch dimension and is not summed.
TEST_F(DimsTest, ContractionKeepsBatch) {
  Contraction c = contract({batch, seq, embed}, {batch, embed}, {batch, seq});
  EXPECT_TRUE(c.valid());
  EXPECT_THAT(c.summed, ElementsAre(embed));
}

// Forgetting `batch` in the declaration cannot sum over it: only one operand has it.
TEST_F(DimsTest, ContractionNamesLostDimension) {
  Contraction c = contract({batch, seq, embed}, {embed, vocab}, {seq, vocab});
  EXPECT_FALSE(c.valid());
  EXPECT_THAT(c.lostLeft, ElementsAre(batch));
  EXPECT_THAT(c.lostRight, IsEmpty());
}

// A declared dimension that no operand has is reported, not broadcast.
TEST_F(DimsTest, ContractionReportsAbsent) {
  Contraction c = contract({batch, embed}, {embed, vocab}, {batch, vocab, seq});
  EXPECT_THAT(c.absent, ElementsAre(seq));
}

// Operands without common dimensions form an outer product, which is legal if the result declares
// it.
TEST_F(DimsTest, ContractionMayBeOuterProduct) {
  Contraction c = contract({batch}, {vocab}, {batch, vocab});
  EXPECT_TRUE(c.valid());
  EXPECT_THAT(c.summed, IsEmpty());
}

// A gather of rows replaces the indexed dimension by the dimensions of the index.
TEST_F(DimsTest, GatherReplacesDimension) {
  EXPECT_THAT(gather({vocab, embed}, vocab, {batch, seq}), ElementsAre(batch, seq, embed));
}

// Picking one element per position joins the index's dimensions with the base's by name.
TEST_F(DimsTest, GatherJoinsSharedDimensions) {
  EXPECT_THAT(gather({batch, seq, vocab}, vocab, {batch, seq}), ElementsAre(batch, seq));
}

// A rename of a rename still knows the dimension it came from.
TEST_F(DimsTest, RenamesKeepOrigin) {
  DimId keys = dims.derive(seq, "keys", 256);
  DimId other = dims.derive(keys, "other", 256);
  EXPECT_EQ(dims[other].origin, seq);
  EXPECT_EQ(dims[seq].origin, seq);
}

// Two dimensions of one name are two dimensions, and their names in the IR differ.
TEST_F(DimsTest, SameNameIsNotSameDimension) {
  DimId again = dims.add("seq", 4);
  EXPECT_FALSE(DimSet({seq}).sameDims({again}));
  EXPECT_EQ(dims.uniqueName(seq), "seq");
  EXPECT_EQ(dims.uniqueName(again), "seq_1");
}

} // namespace
} // namespace titan::sema
