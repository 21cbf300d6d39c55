// Names of the slots of stacked tensors.
#include "dialects/titan/IR/Stacked.h"
#include "dialects/titan/IR/Titan.h"

#include "mlir/IR/Builders.h"

#include <gmock/gmock.h>

using namespace titan::ir;
using testing::ElementsAre;

namespace {

Stack stack(llvm::SmallVector<llvm::SmallVector<int64_t>> iterations,
            llvm::SmallVector<int64_t> segments) {
  return {std::move(iterations), std::move(segments)};
}

} // namespace

// The iteration follows the repeat's segment of the name.
TEST(Stacked, SlotNames) {
  EXPECT_THAT(getSlotNames("layers.attn.wq", stack({{1, 3}}, {0})),
              ElementsAre("layers.1.attn.wq", "layers.3.attn.wq"));
  EXPECT_THAT(getSlotNames("m.layers.wq", stack({{0, 1}}, {0}), 1),
              ElementsAre("m.layers.0.wq", "m.layers.1.wq"));
  EXPECT_THAT(getSlotNames("wq", {}), ElementsAre("wq"));
  EXPECT_THAT(getSlotNames("m.wq", {}, 1), ElementsAre("m.wq"));
}

// Nested repeats, outermost first: row-major, in the order of the slots.
TEST(Stacked, SlotNamesOfNestedRepeats) {
  EXPECT_THAT(getSlotNames("outer.inner.w", stack({{0, 1}, {0, 2}}, {0, 1})),
              ElementsAre("outer.0.inner.0.w", "outer.0.inner.2.w", "outer.1.inner.0.w",
                          "outer.1.inner.2.w"));
  EXPECT_THAT(getSlotNames("v.outer.inner.w", stack({{1}, {2}}, {0, 1}), 1),
              ElementsAre("v.outer.1.inner.2.w"));
}

// A segment of a call around a repeat precedes the repeat's segment.
TEST(Stacked, SlotNamesOfNamedCalls) {
  EXPECT_THAT(getSlotNames("teacher.layers.wq", stack({{0, 1}}, {1})),
              ElementsAre("teacher.layers.0.wq", "teacher.layers.1.wq"));
  EXPECT_THAT(getSlotNames("m.a.outer.b.inner.w", stack({{1}, {2, 3}}, {1, 3}), 1),
              ElementsAre("m.a.outer.1.b.inner.2.w", "m.a.outer.1.b.inner.3.w"));
}

// The attribute has its shortest form and round-trips.
TEST(Stacked, Attribute) {
  mlir::MLIRContext context;
  context.loadDialect<TitanDialect>();
  mlir::Builder builder(&context);
  auto dim = [&](const char *name, int64_t size) {
    return DimAttr::get(&context, builder.getStringAttr(name), size, nullptr);
  };
  auto type = NamedTensorType::get(builder.getF32Type(), {dim("layers", 2), dim("a", 3)});
  std::vector<std::vector<int64_t>> all = {{0, 1}}, some = {{1, 3}};
  auto readBack = [&](const std::vector<std::vector<int64_t>> &iterations, int64_t segment) {
    mlir::Attribute attribute = getStackedAttr(builder, iterations, {segment});
    Stack stack = getStack(attribute, type);
    EXPECT_EQ(getStackedLevels(attribute), 1u);
    EXPECT_EQ(hasDefaultSegments(stack), segment == 0);
    EXPECT_THAT(stack.segments, ElementsAre(segment));
    EXPECT_THAT(stack.iterations[0], testing::ElementsAreArray(iterations[0]));
    return attribute;
  };
  EXPECT_TRUE(llvm::isa<mlir::UnitAttr>(readBack(all, 0)));
  EXPECT_TRUE(llvm::isa<mlir::ArrayAttr>(readBack(some, 0)));
  readBack(all, 1);
  readBack(some, 2);
  EXPECT_EQ(getStackedLevels(nullptr), 0u);
  EXPECT_TRUE(getStack(nullptr, type).iterations.empty());
}
