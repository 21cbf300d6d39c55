#include "dialects/titan/IR/Stacked.h"

#include <gmock/gmock.h>

using testing::ElementsAre;
using titan::ir::getSlotNames;

// The iteration goes behind the part of the name that the repeat gave.
TEST(Stacked, SlotNames) {
  EXPECT_THAT(getSlotNames("layers.attn.wq", {{1, 3}}),
              ElementsAre("layers.1.attn.wq", "layers.3.attn.wq"));
  EXPECT_THAT(getSlotNames("m.layers.wq", {{0, 1}}, 1),
              ElementsAre("m.layers.0.wq", "m.layers.1.wq"));
  EXPECT_THAT(getSlotNames("wq", {}), ElementsAre("wq"));
  EXPECT_THAT(getSlotNames("m.wq", {}, 1), ElementsAre("m.wq"));
}

// Repeats in repeats, the outermost first: row by row, as the slots lie.
TEST(Stacked, SlotNamesOfNestedRepeats) {
  EXPECT_THAT(getSlotNames("outer.inner.w", {{0, 1}, {0, 2}}),
              ElementsAre("outer.0.inner.0.w", "outer.0.inner.2.w", "outer.1.inner.0.w",
                          "outer.1.inner.2.w"));
  EXPECT_THAT(getSlotNames("v.outer.inner.w", {{1}, {2}}, 1), ElementsAre("v.outer.1.inner.2.w"));
}
