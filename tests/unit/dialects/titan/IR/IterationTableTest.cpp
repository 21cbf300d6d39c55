// The slot that each iteration of a repeat uses of a stacked tensor.
#include "dialects/titan/IR/IterationTable.h"

#include <gmock/gmock.h>

using testing::ElementsAre;
using testing::IsEmpty;
using titan::ir::IterationTable;

// One variant: every iteration has its own slot.
TEST(IterationTable, OneVariant) {
  IterationTable table({0, 0, 0});
  EXPECT_THAT(table.getSlots({0}), ElementsAre(0, 1, 2));
  EXPECT_EQ(table.getCount({0}), 3);
}

// Slots are numbered in the order of the iterations that use the tensor, without gaps.
TEST(IterationTable, SlotsOfSomeVariants) {
  IterationTable table({0, 1, 2, 1, 0});
  EXPECT_THAT(table.getIterations({1}), ElementsAre(1, 3));
  EXPECT_THAT(table.getSlots({1}), ElementsAre(-1, 0, -1, 1, -1));
  EXPECT_THAT(table.getSlots({0, 2}), ElementsAre(0, -1, 1, -1, 2));
  EXPECT_EQ(table.getCount({0, 1, 2}), 5);
  EXPECT_THAT(table.getIterations({}), IsEmpty());
}

// If all iterations are equal, the table contains only their number.
TEST(IterationTable, EqualIterations) {
  IterationTable table(int64_t{1} << 40);
  EXPECT_EQ(table.getNumIterations(), int64_t{1} << 40);
  EXPECT_EQ(table.getVariant(12345), 0);
  EXPECT_EQ(table.getCount({0}), int64_t{1} << 40);
  EXPECT_EQ(table.getCount({1}), 0);
  EXPECT_THAT(IterationTable(3).getSlots({0}), ElementsAre(0, 1, 2));
}
