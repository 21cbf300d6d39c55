// Files that programs write for other software: arrays and pictures.
#include "base/files/NpyFile.h"
#include "base/files/NpyWriter.h"
#include "base/files/PngFile.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace titan {
namespace {

std::string getPath(const char *name) {
  return (std::filesystem::path(testing::TempDir()) / name).string();
}

template <class Number> std::string_view viewBytes(const std::vector<Number> &numbers) {
  return {reinterpret_cast<const char *>(numbers.data()), numbers.size() * sizeof(Number)};
}

TEST(NpyWriter, writesWhatNpyFileReads) {
  const std::string path = getPath("written.npy");
  std::filesystem::remove(path); // of an earlier run of the test
  const std::vector<float> first{1, -2, 3}, second{4, 5.5, 6};
  const std::array<int64_t, 2> shape{2, 3};
  NpyWriter writer(path, DType::F32, shape);
  writer.append(viewBytes(first));
  writer.append(viewBytes(second));
  EXPECT_FALSE(std::filesystem::exists(path)) << "an incomplete array must not have the name";
  writer.finish();
  const NpyFile file(path);
  EXPECT_EQ(file.array().dtype, "F32");
  EXPECT_EQ(file.array().shape, (std::vector<int64_t>{2, 3}));
  ASSERT_EQ(file.array().bytes.size(), 24u);
  EXPECT_EQ(std::memcmp(file.array().bytes.data() + 12, second.data(), 12), 0);
}

TEST(NpyWriter, namesTheTypeAndShape) {
  const std::array<int64_t, 1> shape{2};
  for (auto [type, name] : {std::pair(DType::F64, "F64"), std::pair(DType::I64, "I64"),
                            std::pair(DType::Bool, "BOOL"), std::pair(DType::BF16, "F32")}) {
    const std::string path = getPath("typed.npy");
    NpyWriter writer(path, type, shape);
    writer.append(std::string(2 * (type == DType::Bool ? 1 : type == DType::BF16 ? 4 : 8), '\0'));
    writer.finish();
    EXPECT_EQ(NpyFile(path).array().dtype, name);
    EXPECT_EQ(NpyFile(path).array().shape, std::vector<int64_t>{2});
  }
}

// One grey pixel; the bytes are those of zlib's stored block and of the checksums of Python's zlib.
TEST(Png, hasTheBytesOfTheFormat) {
  const std::vector<uint8_t> pixel{7};
  const std::string file = encodePng(pixel, 1, 1, 1);
  const std::string expected("\x89PNG\r\n\x1a\n"
                             "\0\0\0\x0dIHDR\0\0\0\1\0\0\0\1\x08\0\0\0\0\x3a\x7e\x9b\x55"
                             "\0\0\0\x0dIDAT\x78\x01\1\2\0\xfd\xff\0\7\0\x09\0\x08",
                             8 + 25 + 8 + 13);
  EXPECT_EQ(file.substr(0, expected.size()), expected);
  EXPECT_EQ(file.substr(file.size() - 12), std::string("\0\0\0\0IEND\xae\x42\x60\x82", 12));
}

// More than a stored block of 65,535 bytes.
TEST(Png, dividesLongDataIntoBlocks) {
  const std::vector<uint8_t> pixels(300 * 100 * 3, 200);
  const std::string file = encodePng(pixels, 100, 300, 3);
  const size_t data = 100 * (1 + 300 * 3), blocks = 2;
  EXPECT_EQ(file.size(), 8 + 25 + (12 + 2 + 5 * blocks + data + 4) + 12);
}

} // namespace
} // namespace titan
