// The deviation of two values, by which results of two runs are compared.

#include "compiler/interpreter/Compare.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace titan::interpreter;
using titan::ir::HostTensor;

namespace {

// The 2-norm of the difference, relative to that of the second value.
TEST(Compare, Deviation) {
  EXPECT_DOUBLE_EQ(getDeviation({{2}, {3, 5}}, {{2}, {3, 4}}), 0.2);
  EXPECT_EQ(getDeviation({{2}, {3, 4}}, {{2}, {3, 4}}), 0);
}

// The deviation of a value of rounding errors is relative to a hundredth of the family's norm.
TEST(Compare, FamilyNorm) {
  EXPECT_DOUBLE_EQ(getDeviation({{1}, {1e-9}}, {{1}, {-1e-9}}, 2.0), 1e-7 / (1 + 5e-8));
  EXPECT_EQ(getDeviation({{1}, {0.5}}, {{1}, {0}}), std::numeric_limits<double>::infinity());
  EXPECT_EQ(getDeviation({{1}, {0}}, {{1}, {0}}), 0);
}

// Equal infinities are equal; NaN equals nothing; different shapes deviate infinitely.
TEST(Compare, Extremes) {
  double infinity = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(getDeviation({{1}, {NAN}}, {{1}, {NAN}}) <= 1);
  EXPECT_FALSE(getDeviation({{1}, {1}}, {{1}, {NAN}}) <= 1);
  EXPECT_FALSE(getDeviation({{1}, {infinity}}, {{1}, {1}}) <= 1);
  EXPECT_EQ(getDeviation({{1}, {1}}, {{2}, {1, 1}}), infinity);
}

} // namespace
