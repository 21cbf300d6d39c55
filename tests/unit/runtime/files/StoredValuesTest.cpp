// Conversions to the element types of files.
#include "files/StoredValues.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

using namespace titan;
using namespace titan::rt;

namespace {

template <typename To, typename From>
std::vector<To> convert(DType from, const char *to, const std::vector<From> &values,
                        bool fits = true) {
  std::vector<To> stored(values.size());
  EXPECT_EQ(storeValues(from, reinterpret_cast<const std::byte *>(values.data()),
                        std::ssize(values), *findStoredType(to),
                        reinterpret_cast<std::byte *>(stored.data())),
            fits);
  return stored;
}

/// All numbers of 16 bits: reading is exact, and writing gives the same bits again.
TEST(StoredValues, SixteenBitsSurvive) {
  for (const char *name : {"F16", "BF16"})
    for (const DType type : {DType::F32, DType::F64}) {
      std::vector<uint16_t> bits(1 << 16), again(1 << 16);
      for (size_t i = 0; i < bits.size(); ++i)
        bits[i] = static_cast<uint16_t>(i);
      std::vector<std::byte> values(bits.size() * static_cast<size_t>(getByteSize(type)));
      const StoredType &stored = *findStoredType(name);
      convertStored(stored, reinterpret_cast<const std::byte *>(bits.data()), std::ssize(bits),
                    type, values.data());
      EXPECT_TRUE(storeValues(type, values.data(), std::ssize(bits), stored,
                              reinterpret_cast<std::byte *>(again.data())));
      for (size_t i = 0; i < bits.size(); ++i) {
        float value;
        convertStored(stored, reinterpret_cast<const std::byte *>(&bits[i]), 1, DType::F32, &value);
        if (!std::isnan(value)) {
          ASSERT_EQ(again[i], bits[i]) << name;
        }
      }
    }
}

TEST(StoredValues, RoundToNearestTiesToEven) {
  const float unit = 0x1p-10F, tiny = 0x1p-24F; // units of F16 at 1 and of its subnormals
  EXPECT_EQ(
      (convert<uint16_t>(DType::F32, "F16",
                         std::vector<float>{1 + unit / 2, 1 + 3 * unit / 2, 1 + unit / 2 + 0x1p-23F,
                                            -1.5F * tiny, tiny / 2, 65519})),
      (std::vector<uint16_t>{0x3c00, 0x3c02, 0x3c01, 0x8002, 0, 0x7bff}));
  const float step = 0x1p-7F; // of BF16
  EXPECT_EQ(
      (convert<uint16_t>(DType::F32, "BF16", std::vector<float>{1 + step / 2, 1 + 3 * step / 2})),
      (std::vector<uint16_t>{0x3f80, 0x3f82}));
  EXPECT_EQ((convert<float>(DType::F64, "F32", std::vector<double>{1 + 0x1p-24, 0.1})),
            (std::vector<float>{1, 0.1F}));
}

TEST(StoredValues, NumbersBeyondTheRangeDoNotFit) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ((convert<uint16_t>(DType::F32, "F16", std::vector<float>{65520, 1}, /*fits=*/false)),
            (std::vector<uint16_t>{0x7c00, 0x3c00}));
  convert<float>(DType::F64, "F32", std::vector<double>{1e300}, /*fits=*/false);
  convert<uint16_t>(DType::F32, "BF16", std::vector<float>{3.4e38F}, /*fits=*/false);
  convert<uint16_t>(DType::F32, "F16", std::vector<float>{-infinity, std::nanf("")});
}

} // namespace
