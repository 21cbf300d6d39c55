// Random bits, and the initial values that are drawn from them.
#include "base/random/RandomStream.h"
#include "random/Initialize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using namespace titan;
using namespace titan::rt;

namespace {

// The published known answers of Philox4x32-10 (Random123's kat_vectors).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// The published test values of 64-bit FNV-1a.
TEST(Fnv1a, KnownAnswers) {
  EXPECT_EQ(fnv1a64(""), 0xcbf29ce484222325u);
  EXPECT_EQ(fnv1a64("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(fnv1a64("foobar"), 0x85944171f73967e8u);
  EXPECT_EQ(fnv1a64("bar", fnv1a64("foo")), fnv1a64("foobar"));
}

struct Moments {
  double mean = 0, variance = 0, smallest = 1e300, largest = -1e300;
};

Moments computeMoments(const std::vector<double> &values) {
  Moments m;
  for (double v : values) {
    m.mean += v / values.size();
    m.smallest = std::min(m.smallest, v);
    m.largest = std::max(m.largest, v);
  }
  for (double v : values)
    m.variance += (v - m.mean) * (v - m.mean) / values.size();
  return m;
}

Moments draw(Initializer init, int64_t count = 200000) {
  std::vector<double> values(count);
  initializeRange(init, 42, "w", 0, count, DType::F64, values.data());
  return computeMoments(values);
}

// Each distribution has the mean, variance and range of its definition.
TEST(Initialize, Distributions) {
  Moments constant = draw({Init::Constant, 3.5});
  EXPECT_EQ(constant.smallest, 3.5);
  EXPECT_EQ(constant.largest, 3.5);

  Moments uniform = draw({Init::Uniform, 2});
  EXPECT_NEAR(uniform.mean, 0, 0.01);
  EXPECT_NEAR(uniform.variance, 16.0 / 12, 0.02);
  EXPECT_GE(uniform.smallest, -2);
  EXPECT_LT(uniform.largest, 2);

  Moments normal = draw({Init::Normal, 0.5});
  EXPECT_NEAR(normal.mean, 0, 0.005);
  EXPECT_NEAR(normal.variance, 0.25, 0.005);
  EXPECT_GT(normal.largest, 0.5 * 3.5);

  // Variance of a standard normal truncated at two: 1 - 2 * 2 * phi(2) / (2 Phi(2) - 1) = 0.7737.
  Moments truncated = draw({Init::TruncatedNormal, 0.02, 2});
  EXPECT_NEAR(truncated.mean, 0, 0.0002);
  EXPECT_NEAR(truncated.variance / (0.02 * 0.02), 0.7737, 0.01);
  EXPECT_GE(truncated.smallest, -0.04);
  EXPECT_LE(truncated.largest, 0.04);
}

// An element depends only on seed, name and index: any range has the bits of the complete tensor.
TEST(Initialize, RangesAgreeWithTheWhole) {
  Initializer init{Init::Normal, 0.02};
  std::vector<float> whole(1000);
  initializeRange(init, 7, "layers.3.wq", 0, 1000, DType::F32, whole.data());
  for (auto [first, count] :
       {std::pair<int64_t, int64_t>{0, 1000}, {1, 999}, {127, 2}, {300, 40}}) {
    std::vector<float> run(static_cast<size_t>(count));
    initializeRange(init, 7, "layers.3.wq", first, count, DType::F32, run.data());
    for (int64_t i = 0; i < count; ++i)
      EXPECT_EQ(run[i], whole[first + i]);
  }
}

// Seed and name both change the values; float is the rounded double.
TEST(Initialize, KeyedBySeedAndName) {
  auto first = [](uint64_t seed, const char *name) {
    double value;
    initializeRange({Init::Normal, 1}, seed, name, 0, 1, DType::F64, &value);
    return value;
  };
  EXPECT_EQ(first(1, "a"), first(1, "a"));
  EXPECT_NE(first(1, "a"), first(2, "a"));
  EXPECT_NE(first(1, "a"), first(1, "b"));
  EXPECT_NE(first(1, "a"), first(uint64_t{1} << 32 | 1, "a"));
  float rounded;
  initializeRange({Init::Normal, 1}, 1, "a", 0, 1, DType::F32, &rounded);
  EXPECT_EQ(rounded, static_cast<float>(first(1, "a")));
}

// Fixed values keep the definition from changing: later versions must start with the same bits.
TEST(Initialize, IsStableOverVersions) {
  double values[2];
  initializeRange({Init::Normal, 1}, 42, "layers.0.wq", 5, 2, DType::F64, values);
  RandomStream stream(42, "init", "layers.0.wq");
  uint64_t key = fnv1a64("init:layers.0.wq");
  PhiloxCounter block =
      philox4x32({5, 0, 42, 0}, {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)});
  EXPECT_EQ(stream.bits(5), block);
  double u = 1.0 - ((uint64_t{block[0]} << 32 | block[1]) >> 11) * 0x1.0p-53;
  double v = ((uint64_t{block[2]} << 32 | block[3]) >> 11) * 0x1.0p-53;
  EXPECT_NEAR(values[0], std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v), 1e-15);
  EXPECT_EQ(values[0], 0x1.afc4fe1f0faefp-1);
  EXPECT_EQ(values[1], 0x1.7f84c1553ad8ap-1);
}

// Blocks of vector width have the bits of single elements, which the interpreter draws.
TEST(Initialize, BlocksAgreeWithSingleElements) {
  RandomStream stream(9, "init", "table");
  const int64_t first = (int64_t{1} << 32) - 1000, count = 3001; // beyond the counter's first word
  std::vector<double> uniform(count), normal(count), truncated(count);
  initializeRange({Init::Uniform, 3}, 9, "table", first, count, DType::F64, uniform.data());
  initializeRange({Init::Normal, 3}, 9, "table", first, count, DType::F64, normal.data());
  initializeRange({Init::TruncatedNormal, 3, 0.5}, 9, "table", first, count, DType::F64,
                  truncated.data());
  for (int64_t i = 0; i < count; ++i) {
    EXPECT_EQ(uniform[i], 3 * (2 * stream.uniform(first + i) - 1));
    EXPECT_EQ(normal[i], 3 * stream.normal(first + i));
    EXPECT_EQ(truncated[i], 3 * stream.truncatedNormal(first + i, -0.5, 0.5));
  }
}

} // namespace
