// The first operation whose results are not finite.
#include "numbers/NumberWatch.h"

#include "titan/runtime/watch.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace titan::rt {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(),
                nan = std::numeric_limits<float>::quiet_NaN();

class NumberWatchTest : public testing::Test {
protected:
  NumberWatchTest() : device(makeDevice({})), numbers(*device) { ctx.numbers = &numbers; }

  /// An operation at this line that reads `from` and writes `to`.
  void run(const char *line, const float &from, float &to, float result, int channel = -1) {
    ctx.location = line;
    ctx.action = "mul";
    watch(ctx, {{DType::F32, &from, 1}}, {{DType::F32, &to, 1}}, channel);
    to = result;
  }
  std::string describe(NonFiniteKind kind) {
    numbers.finish();
    const FoundNumber &first = numbers.first(kind);
    return first.isFound ? std::string(first.location.data()) + (first.isMade ? " makes" : " reads")
                         : "";
  }

  std::unique_ptr<Device> device;
  NumberWatch numbers;
  Context ctx;
  float a = 1, b = 1, c = 1;
};

TEST_F(NumberWatchTest, FindsBitsOfAllTypes) {
  const double wide[] = {1, std::numeric_limits<double>::infinity(), -0.0};
  EXPECT_EQ(findNumberBits(wide, DType::F64, 3), tm::HasInfinity);
  EXPECT_EQ(findNumberBits(wide, DType::F64, 1), 0);
  const float both[] = {-infinity, nan, std::numeric_limits<float>::max()};
  EXPECT_EQ(findNumberBits(both, DType::F32, 3), tm::HasInfinity | tm::HasNan);
  const uint16_t narrow[] = {0x7f7f, 0xff80};
  EXPECT_EQ(findNumberBits(narrow, DType::BF16, 2), tm::HasInfinity);
  const int64_t ones = -1;
  EXPECT_EQ(findNumberBits(&ones, DType::I64, 1), 0);
}

TEST_F(NumberWatchTest, AnInfinityBecomesANan) {
  run("f:1", a, b, 2);
  run("f:2", b, c, infinity);
  run("f:3", c, b, nan);
  run("f:4", b, a, nan);
  EXPECT_EQ(describe(NonFiniteKind::MadeInfinity), "f:2 makes");
  EXPECT_EQ(describe(NonFiniteKind::Nan), "f:3 makes");
}

TEST_F(NumberWatchTest, AMaskIsReadOnly) {
  a = -infinity;
  run("f:1", a, b, -infinity);
  EXPECT_EQ(describe(NonFiniteKind::MadeInfinity), "");
  EXPECT_EQ(describe(NonFiniteKind::ReadInfinity), "f:1 reads");
  EXPECT_EQ(describe(NonFiniteKind::Nan), "");
}

TEST_F(NumberWatchTest, InPlace) {
  run("f:1", a, a, nan);
  EXPECT_EQ(describe(NonFiniteKind::Nan), "f:1 makes");
}

TEST_F(NumberWatchTest, ACollectiveInFlight) {
  ctx.location = "f:1";
  watch(ctx, {{DType::F32, &a, 1}}, {}, 3);
  ctx.location = "f:2";
  watch(ctx, {}, {{DType::F32, &c, 1}}, 4); // one that only moves numbers
  c = nan;
  ctx.location = "f:3";
  watch(ctx, {}, {{DType::F32, &b, 1}}, 3);
  b = nan;
  EXPECT_EQ(describe(NonFiniteKind::Nan), "f:3 makes");
}

TEST_F(NumberWatchTest, StepsComeBeforeTheirFusedOperation) {
  static constexpr WatchedStep steps[] = {{"f:4", "log"}, {"f:5", "mul"}, {"f:6", "add"}};
  ctx.location = "f:4";
  watch(ctx, {{DType::F32, &a, 1}}, {{DType::F32, &b, 1}});
  tm::StepBits<3> seen;
  seen.see(0, 1.0F, 2.0F);
  seen.see(1, nan, 1.0F, int64_t{3});
  seen.see(0, 1.0F, 2.0F); // the next row
  seen.see(2, nan, nan, 1.0F);
  seen.report(ctx, steps);
  b = nan;
  EXPECT_EQ(describe(NonFiniteKind::Nan), "f:5 makes");
}

TEST_F(NumberWatchTest, TermsOfASum) {
  static constexpr WatchedStep steps[] = {{"f:1", "reduce"}, {"f:2", "reduce"}};
  watch(ctx, {}, {});
  tm::StepBits<2> seen;
  seen.seeTerm(0, infinity);
  seen.see(0, infinity);
  seen.seeTerm(1, 3e38F);
  seen.see(1, infinity);
  seen.report(ctx, steps);
  EXPECT_EQ(describe(NonFiniteKind::MadeInfinity), "f:2 makes");
  EXPECT_EQ(describe(NonFiniteKind::ReadInfinity), "f:1 reads");
}

TEST_F(NumberWatchTest, MicrobatchesComeBeforeStages) {
  numbers.beginFragment({1, 1, 0}); // microbatch 1 runs first on this rank
  run("f:1", a, b, nan);
  numbers.finish();
  numbers.beginFragment({1, 0, 5});
  run("f:9", a, c, nan);
  EXPECT_EQ(describe(NonFiniteKind::Nan), "f:9 makes");
}

TEST_F(NumberWatchTest, Iterations) {
  const Iteration outer(ctx, "microbatches", 1);
  const Iteration inner(ctx, "layers", 7);
  run("f:1", a, b, nan);
  numbers.finish();
  EXPECT_STREQ(numbers.first(NonFiniteKind::Nan).iterations.data(), "layers = 7, microbatches = 1");
}

} // namespace
} // namespace titan::rt
