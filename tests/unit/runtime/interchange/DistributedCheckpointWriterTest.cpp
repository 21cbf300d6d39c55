// Checkpoints of PyTorch, written and read.
#include "interchange/DistributedCheckpointWriter.h"
#include "interchange/DistributedCheckpoint.h"

#include "base/Error.h"
#include "base/files/Crc32.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <numeric>

namespace titan::rt {
namespace {

namespace fs = std::filesystem;

class DistributedCheckpointWriterTest : public testing::Test {
protected:
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }

  const std::string folder =
      (fs::path(testing::TempDir()) / ("dcp-" + std::to_string(::getpid()))).string();
};

std::vector<float> read(const ChunkedTensor &tensor) {
  const int64_t columns = tensor.shape.size() > 1 ? tensor.shape[1] : 1;
  std::vector<float> values(static_cast<size_t>(tensor.shape[0] * columns));
  for (const ChunkedTensor::Chunk &chunk : tensor.chunks)
    std::memcpy(values.data() + chunk.offsets[0] * columns, chunk.elements.data(),
                static_cast<size_t>(chunk.sizes[0] * columns) * sizeof(float));
  return values;
}

TEST_F(DistributedCheckpointWriterTest, DividesLargeTensors) {
  std::vector<float> matrix(7 * 5), vector(3), none;
  std::iota(matrix.begin(), matrix.end(), 0.5F);
  std::iota(vector.begin(), vector.end(), -1.0F);
  const int64_t number = -5;
  DistributedCheckpointWriter writer(folder, /*chunkBytes=*/40); // two rows
  writer.add("matrix", "F32", {7, 5}, std::as_bytes(std::span(matrix)));
  writer.add("layers.3.vector", "F32", {3}, std::as_bytes(std::span(vector)));
  writer.add("number", "I64", {}, std::as_bytes(std::span(&number, 1)));
  writer.add("none", "F32", {0, 4}, std::as_bytes(std::span(none)));
  EXPECT_FALSE(isDistributedCheckpoint(folder)) << "before it is complete";
  writer.finish();
  const DistributedCheckpoint found(folder);
  ASSERT_EQ(found.tensors().size(), 4U);
  EXPECT_EQ(found.tensors().at("matrix").chunks.size(), 4U);
  EXPECT_EQ(read(found.tensors().at("matrix")), matrix);
  EXPECT_EQ(read(found.tensors().at("layers.3.vector")), vector);
  EXPECT_EQ(found.tensors().at("number").dtype, "I64");
  EXPECT_TRUE(found.tensors().at("none").chunks.empty());
}

TEST_F(DistributedCheckpointWriterTest, RefusesTypesThatArchivesLack) {
  DistributedCheckpointWriter writer(folder);
  const std::byte one{};
  EXPECT_THROW(writer.add("x", "F8_E4M3", {1}, {&one, 1}), UserError);
}

TEST(Crc32Test, OfKnownTexts) {
  EXPECT_EQ(crc32("123456789"), 0xCBF43926U);
  EXPECT_EQ(crc32("The quick brown fox jumps over the lazy dog"), 0x414FA339U);
  EXPECT_EQ(crc32("6789", crc32("12345")), 0xCBF43926U);
  EXPECT_EQ(crc32(""), 0U);
}

} // namespace
} // namespace titan::rt
