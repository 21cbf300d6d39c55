// Texts that are generated together and shown one after another.
#include "generation/OrderedTexts.h"

#include <gtest/gtest.h>

namespace titan::rt {
namespace {

// The first text is shown as it grows; the next ones are held until it ends.
TEST(OrderedTexts, ShowsTheFirst) {
  OrderedTexts texts;
  EXPECT_EQ(texts.add(0, "a"), "a");
  EXPECT_EQ(texts.add(1, "x"), "");
  EXPECT_EQ(texts.add(1, "y"), "");
  EXPECT_EQ(texts.add(0, "b"), "b");
  EXPECT_EQ(texts.end(0), "xy");
  EXPECT_EQ(texts.add(1, "z"), "z");
}

// Texts that have ended before the first one follow it at once, and then the beginning of the next.
TEST(OrderedTexts, ShowsEndedTexts) {
  OrderedTexts texts;
  texts.add(2, "two");
  EXPECT_EQ(texts.end(2), "");
  texts.add(1, "one");
  EXPECT_EQ(texts.end(1), "");
  texts.add(3, "three");
  EXPECT_EQ(texts.add(0, "zero"), "zero");
  EXPECT_EQ(texts.end(0), "onetwothree");
  EXPECT_EQ(texts.end(3), "");
}

} // namespace
} // namespace titan::rt
