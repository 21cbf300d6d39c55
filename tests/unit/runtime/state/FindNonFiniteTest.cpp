// Numbers that are infinite or not a number, in every type and at any index.
#include "state/FindNonFinite.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

using namespace titan;
using namespace titan::rt;

namespace {

template <class T> bool hasBad(const std::vector<T> &values, DType type) {
  return hasNonFinite(std::as_bytes(std::span(values)), type);
}

template <class T> void checkEveryIndex(DType type) {
  using Limits = std::numeric_limits<T>;
  const std::vector<T> good(9000, Limits::max());
  EXPECT_FALSE(hasBad(good, type));
  EXPECT_FALSE(hasBad(std::vector<T>{0, -Limits::max(), Limits::denorm_min()}, type));
  for (size_t at : {size_t{0}, size_t{4095}, size_t{4096}, size_t{8999}})
    for (T bad : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()}) {
      std::vector<T> values = good;
      values[at] = bad;
      EXPECT_TRUE(hasBad(values, type)) << at;
    }
}

TEST(FindNonFinite, FindsThemInEveryBlock) {
  checkEveryIndex<double>(DType::F64);
  checkEveryIndex<float>(DType::F32);
}

TEST(FindNonFinite, KnowsNarrowAndWholeNumbers) {
  EXPECT_TRUE(hasBad(std::vector<uint16_t>{0x3f80, 0xff80}, DType::BF16)) << "minus infinity";
  EXPECT_TRUE(hasBad(std::vector<uint16_t>{0x7fc0}, DType::BF16)) << "not a number";
  EXPECT_FALSE(hasBad(std::vector<uint16_t>{0x7f7f, 0x8000}, DType::BF16));
  EXPECT_FALSE(hasBad(std::vector<int64_t>{-1}, DType::I64)) << "all bits are set";
}

} // namespace
