// Blocks of stored tensors, converted element by element for comparison.
#include "weights/StridedSource.h"

#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace titan;
using namespace titan::rt;

namespace {

/// The type of a stored tensor, and the type that it is read as.
struct Case {
  const char *stored;
  DType type;
};

std::vector<std::byte> randomBytes(size_t count, std::mt19937 &random) {
  std::vector<std::byte> bytes(count);
  for (std::byte &byte : bytes)
    byte = static_cast<std::byte>(random());
  return bytes;
}

/// Reads a block of a random tensor, whose bytes begin at an odd address, and compares it with
/// elements that are converted one by one.
void expectBlock(const Case &what, const StridedBlock &block, int64_t storedElements,
                 int64_t localElements, std::mt19937 &random) {
  const StoredType &stored = *findStoredType(what.stored);
  const auto bytes = randomBytes(static_cast<size_t>(storedElements * stored.bytes + 1), random);
  const std::span<const std::byte> from = std::span(bytes).subspan(1);
  const int64_t size = getByteSize(what.type);
  std::vector<std::byte> expected(static_cast<size_t>(localElements * size), std::byte{7});
  std::vector<std::byte> read = expected;
  for (size_t j = 0; j < block.columns.size(); ++j)
    for (int64_t i = 0; i < block.count; ++i)
      convertStored(
          stored,
          from.data() + (block.stored + block.columns[j] + i * block.storedStride) * stored.bytes,
          1, what.type,
          expected.data() + (block.local + i * block.localStride + static_cast<int64_t>(j)) * size);
  const StoredTensor tensor{what.stored, {storedElements}, from};
  StridedSource(tensor, stored, what.type).read(block, read.data());
  EXPECT_EQ(std::memcmp(read.data(), expected.data(), read.size()), 0)
      << what.stored << " to " << getName(what.type) << ", " << block.columns.size()
      << " columns of " << block.count << ", strides " << block.localStride << " and "
      << block.storedStride;
}

constexpr Case cases[] = {{"BF16", DType::F32}, {"BF16", DType::BF16}, {"F16", DType::F64},
                          {"F32", DType::F32},  {"F32", DType::BF16},  {"F64", DType::F64},
                          {"F64", DType::F32},  {"I64", DType::I64},   {"I32", DType::I64},
                          {"U32", DType::F32},  {"I16", DType::I64},   {"U16", DType::I64},
                          {"I8", DType::I64},   {"U8", DType::F32},    {"BOOL", DType::Bool}};

// Columns are in random order. The sizes give complete register blocks and remainders, also of the
// 64 columns that are read together; rows are adjacent or not.
TEST(StridedSource, ReadsColumns) {
  std::mt19937 random(3);
  for (const Case &what : cases)
    for (int64_t width : {1, 2, 7, 16, 37, 63, 64, 65, 200, 512})
      for (int64_t count : {1, 5, 32, 100})
        for (int64_t apart : {0, 3}) {
          std::vector<int64_t> columns(static_cast<size_t>(width));
          for (int64_t &column : columns)
            column = static_cast<int64_t>(random() % 1000);
          const int64_t pitch = width + apart;
          expectBlock(what, {0, 5, pitch, 2, 1, columns, count}, 1102, 6 + count * pitch, random);
        }
}

// Stored columns begin at every offset within cache lines, so the first and last blocks have fewer
// rows.
TEST(StridedSource, ReadsColumnsFromEveryOffset) {
  std::mt19937 random(5);
  for (const Case &what : {cases[0], cases[3], cases[5], cases[12]})
    for (int64_t offset = 0; offset < 64; ++offset) {
      std::vector<int64_t> columns(70);
      for (size_t j = 0; j < columns.size(); ++j)
        columns[j] = static_cast<int64_t>(j) * 256;
      expectBlock(what, {0, 0, 96, offset, 1, columns, 150}, offset + 70 * 256, 150 * 96, random);
    }
}

TEST(StridedSource, ReadsRuns) {
  std::mt19937 random(4);
  constexpr int64_t column[] = {0};
  for (const Case &what : cases)
    for (int64_t stride : {1, 2, 5})
      for (int64_t count : {1, 511, 20000})
        expectBlock(what, {0, 3, 1, 1, stride, column, count}, 2 + stride * count, 4 + count,
                    random);
}

} // namespace
