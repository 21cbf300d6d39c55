// GEMM on every vector unit of this processor, selected or not, compared bitwise with its
// definition.
#include "gemm/VectorUnit.h"

#include "gemm/BlockedGemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using namespace titan;
using namespace titan::rt;

namespace {

std::vector<float> numbers(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> between(-1, 1);
  std::vector<float> values(static_cast<size_t>(count));
  for (float &value : values)
    value = between(random);
  return values;
}

std::vector<bf16> rounded(const std::vector<float> &values) {
  return {values.begin(), values.end()};
}

const float *elements(const std::vector<float> &values) {
  return values.data();
}
const uint16_t *elements(const std::vector<bf16> &values) {
  return reinterpret_cast<const uint16_t *>(values.data());
}

template <typename E> struct Factor {
  float operator()(int64_t line, int64_t depth) const {
    return values[static_cast<size_t>(isKContiguous ? line * ld + depth : depth * ld + line)];
  }
  auto operand() const {
    return OperandOf<std::remove_cvref_t<decltype(*elements(values))>>{elements(values), ld,
                                                                       isKContiguous};
  }
  std::vector<E> values;
  int64_t ld;
  bool isKContiguous;
};

/// In memory with minimal or larger leading dimensions.
template <typename E>
Factor<E> factor(int64_t lines, int64_t depth, bool isKContiguous, unsigned seed) {
  const int64_t ld = (isKContiguous ? depth : lines) + lines % 2 * 3;
  const std::vector<float> values = numbers(ld * (isKContiguous ? lines : depth), seed);
  if constexpr (std::is_same_v<E, float>)
    return {values, ld, isKContiguous};
  else
    return {rounded(values), ld, isKContiguous};
}

struct Case {
  int64_t m, n, k;
  bool aAlong, bAlong, adds;
};

std::ostream &operator<<(std::ostream &out, const Case &s) {
  return out << s.m << "x" << s.n << "x" << s.k << (s.aAlong ? "" : " A'")
             << (s.bAlong ? " B'" : "") << (s.adds ? " added" : "");
}

/// Terms are summed in sequence, each rounded once, in equal blocks of k with a maximum size; then
/// blocks in sequence, in float.
template <typename E, typename To>
To definition(const Factor<E> &a, const Factor<E> &b, int64_t i, int64_t j, const Case &s,
              int64_t maxSteps, To old) {
  const int64_t slices = std::max<int64_t>(1, (s.k + maxSteps - 1) / maxSteps);
  const int64_t size = (s.k + slices - 1) / slices;
  const bool isRounded = std::is_same_v<To, bf16>; // the previous value is added last
  float sum = s.adds && !isRounded ? float(old) : 0;
  for (int64_t slice = 0; slice < slices; ++slice) {
    float partial = 0;
    for (int64_t p = slice * size; p < std::min(s.k, (slice + 1) * size); ++p)
      partial = std::fma(a(i, p), b(j, p), partial);
    sum = slice == 0 && (isRounded || !s.adds) ? partial : partial + sum;
  }
  return s.adds && isRounded ? sum + float(old) : sum;
}

template <typename To, typename E, typename Unit> void check(const Unit &unit, const Case &s) {
  const Factor<E> a = factor<E>(s.m, s.k, s.aAlong, 1), b = factor<E>(s.n, s.k, s.bAlong, 2);
  const int64_t ldc = s.n + 2;
  const std::vector<float> numbersBefore = numbers(ldc * s.m, 3);
  const std::vector<To> before(numbersBefore.begin(), numbersBefore.end());
  std::vector<To> c = before;
  multiplyOnVectors(unit, a.operand(), b.operand(), {s.m, s.n, s.k},
                    Destination<To>{c.data(), ldc, s.adds});
  for (int64_t i = 0; i < s.m; ++i)
    for (int64_t j = 0; j < ldc; ++j) {
      const auto at = static_cast<size_t>(i * ldc + j);
      const To want =
          j >= s.n ? before[at] : definition(a, b, i, j, s, unit.shape.maxSteps, before[at]);
      ASSERT_EQ(float(c[at]), float(want)) << s << " at " << i << "," << j;
    }
}

/// Remainders of vectors, of panels and of cache blocks.
template <typename To, typename E, typename Unit> void checkAll(const Unit &unit) {
  int variant = 0;
  for (int64_t m : {1, 2, 3, 5, 6, 7, 14, 15, 29})
    for (int64_t n : {1, 7, 8, 9, 16, 17, 31, 33, 140})
      for (int64_t k : {0, 1, 7, 8, 17, 100, 900}) {
        ++variant;
        check<To, E>(unit, {m, n, k, bool(variant & 1), bool(variant & 2), bool(variant & 4)});
        check<To, E>(unit, {m, n, k, !(variant & 1), bool(variant & 2), !(variant & 4)});
      }
}

class VectorUnits : public testing::TestWithParam<int> {
protected:
  void SetUp() override {
    if (GetParam() == 512 ? !hasVectors512() : !hasVectors256())
      GTEST_SKIP() << "this processor has none";
  }
};

TEST_P(VectorUnits, MultiplyFloats) {
  checkAll<float, float>(*floatVectors(GetParam()));
}

TEST_P(VectorUnits, WidenBfloat16) {
  checkAll<float, bf16>(*wideningVectors(GetParam()));
}

TEST_P(VectorUnits, RoundToBfloat16) {
  checkAll<bf16, bf16>(*wideningVectors(GetParam()));
}

// Distinct rows and columns, so that swapped indices are detected.
TEST_P(VectorUnits, RoundingKeepsNonFiniteValues) {
  const int64_t size = 20;
  std::vector<bf16> a(size * size, 1.0f), b = a, c = a;
  a[3 * size + 5] = INFINITY;
  a[4 * size + 5] = 3e38f;
  b[5 * size + 17] = NAN;
  multiplyOnVectors(*wideningVectors(GetParam()), Bfloat16Operand{elements(a), size, true},
                    Bfloat16Operand{elements(b), size, false}, {size, size, size},
                    Destination<bf16>{c.data(), size, false});
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j < size; ++j) {
      const float value = c[static_cast<size_t>(i * size + j)];
      if (j == 17)
        EXPECT_TRUE(std::isnan(value)) << i;
      else
        EXPECT_EQ(value, i == 3 ? INFINITY : i == 4 ? float(bf16(3e38f)) : 20) << i << "," << j;
    }
}

// The widest unit within the limit is selected.
TEST(VectorUnit, IsTheWidestAllowed) {
  EXPECT_EQ(floatVectors(128), nullptr);
  EXPECT_EQ(wideningVectors(128), nullptr);
  if (hasVectors512()) {
    EXPECT_NE(floatVectors(), floatVectors(256));
    EXPECT_NE(wideningVectors(), wideningVectors(256));
  } else {
    EXPECT_EQ(floatVectors(), floatVectors(256));
  }
}

INSTANTIATE_TEST_SUITE_P(Bits, VectorUnits, testing::Values(256, 512));

} // namespace
