// Samples of .npy and safetensors files: values, conversions, and files that are refused.
#include "data/ArraySamples.h"
#include "base/Error.h"
#include "base/files/NpyFile.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <vector>

using namespace titan;
using namespace titan::rt;

namespace {

namespace fs = std::filesystem;

/// A folder that the test removes.
class ArraySamplesTest : public testing::Test {
protected:
  ArraySamplesTest()
      : folder(fs::temp_directory_path() / ("titan-arrays-" + std::to_string(getpid()))) {
    fs::create_directory(folder);
  }
  ~ArraySamplesTest() override { fs::remove_all(folder); }

  /// Writes NAME.npy: version 1, the dictionary, and the bytes.
  void write(const std::string &name, const std::string &dictionary, const std::string &bytes) {
    std::string header = dictionary + "\n";
    std::string file = "\x93NUMPY";
    file += '\1';
    file += '\0';
    file += static_cast<char>(header.size() & 0xff);
    file += static_cast<char>(header.size() >> 8);
    std::ofstream(folder / (name + ".npy"), std::ios::binary) << file << header << bytes;
  }

  template <typename T>
  void write(const std::string &name, const std::string &descr, const std::string &shape,
             const std::vector<T> &values) {
    write(name, "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape + "), }",
          std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)));
  }

  std::string catchError(const std::vector<InputSpec> &inputs) const {
    try {
      ArraySamples(folder.string(), inputs);
    } catch (const UserError &error) {
      return error.what();
    }
    return "no error";
  }

  fs::path folder;
};

template <typename T>
std::vector<T> read(const ArraySamples &samples, int64_t sample, size_t input, int64_t first,
                    int64_t count) {
  std::vector<T> out(static_cast<size_t>(count));
  samples.read(sample, input, first, count, out.data());
  return out;
}

// An index out of range is found before a run starts, in the first samples and in the last one.
TEST_F(ArraySamplesTest, ChecksIndices) {
  std::vector<int32_t> labels(1 << 17, 9);
  auto catchFor = [&](IndexRange range) {
    write<int32_t>("label", "<i4", std::to_string(labels.size() / 2) + ", 2", labels);
    return catchError({{"label", DType::I64, {2}, range}});
  };
  EXPECT_EQ(catchFor({0, 9}), "no error");
  labels.back() = 10;
  EXPECT_EQ(catchFor({0, 9}), "'" + folder.string() +
                                  "': the array 'label' has 10 in sample 65535, and the program "
                                  "uses it as an index from 0 to 9");
  labels.back() = -100;
  EXPECT_EQ(catchFor({INT64_MIN, 9}), "no error");
  labels[3] = 12;
  EXPECT_EQ(catchFor({INT64_MIN, 9}),
            "'" + folder.string() +
                "': the array 'label' has 12 in sample 1, and the program uses it as an index of "
                "at most 9");
}

TEST_F(ArraySamplesTest, ReadsSamplesInTheTypesOfTheInputs) {
  write<uint8_t>("image", "|u1", "2, 2, 2", {0, 1, 2, 3, 4, 5, 6, 255});
  write<int32_t>("label", "<i4", "2,", {7, -1});
  write<float>("weight", "<f4", "2, 1", {0.5f, 0.25f});
  ArraySamples samples(
      folder.string(),
      {{"image", DType::F32, {2, 2}}, {"label", DType::I64, {}}, {"weight", DType::F64, {1}}});
  EXPECT_EQ(samples.samples(), 2);
  EXPECT_EQ(read<float>(samples, 1, 0, 0, 4), (std::vector<float>{4, 5, 6, 255}));
  EXPECT_EQ(read<float>(samples, 0, 0, 1, 2), (std::vector<float>{1, 2})) << "a rank's shard";
  EXPECT_EQ(read<int64_t>(samples, 1, 1, 0, 1), (std::vector<int64_t>{-1}));
  EXPECT_EQ(read<double>(samples, 1, 2, 0, 1), (std::vector<double>{0.25}));
}

TEST_F(ArraySamplesTest, RefusesOtherShapes) {
  write<float>("x", "<f4", "3, 2", {0, 1, 2, 3, 4, 5});
  write<float>("y", "<f4", "2,", {0, 1});
  const InputSpec x{"x", DType::F32, {2}};
  const auto says = [&](const std::vector<InputSpec> &inputs, const std::string &text) {
    EXPECT_NE(catchError(inputs).find(text), std::string::npos) << catchError(inputs);
  };
  says({x}, "no error");
  says({{"z", DType::F32, {}}}, "has no array 'z', which the program reads; it has: x, y");
  says({{"x", DType::F32, {3}}}, "has the shape [3, 2], the program reads [samples, 3]");
  says({{"x", DType::I64, {2}}}, "has the type F32, which cannot be converted to i64");
  says({x, {"y", DType::F32, {}}}, "'y' has 2 samples, 'x' has 3");
  write<float>("x", "<f4", "0, 2", {});
  says({x}, "has no samples");
}

// A folder may hold other files, whatever is in them.
TEST_F(ArraySamplesTest, OpensOnlyTheArraysOfInputs) {
  write<int64_t>("label", "<i8", "2,", {3, 4});
  std::ofstream(folder / "notes.npy") << "no array";
  EXPECT_EQ(catchError({{"label", DType::I64, {}}}), "no error");
  EXPECT_NE(catchError({{"image", DType::I64, {}}}).find("it has: label, notes"),
            std::string::npos);
}

TEST_F(ArraySamplesTest, RefusesDamagedFiles) {
  const InputSpec x{"x", DType::F32, {2}};
  const auto refuses = [&](const std::string &dictionary, const std::string &bytes,
                           const std::string &text) {
    write("x", dictionary, bytes);
    EXPECT_NE(catchError({x}).find(text), std::string::npos) << catchError({x});
  };
  const std::string eight(8, '\0');
  const auto with = [](const std::string &descr, const std::string &order,
                       const std::string &shape) {
    return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + "}";
  };
  refuses(with("'<f4'", "False", "(1, 2)"), "1234567", "truncated or damaged");
  refuses(with("'<f4'", "True", "(1, 2)"), eight, "column-major");
  refuses(with("'>f4'", "False", "(1, 2)"), eight,
          "the type '>f4'; supported are little-endian integers, booleans and floating-point "
          "numbers; of an array, `a.astype(a.dtype.newbyteorder('<'))`");
  refuses(with("'|O'", "False", "(1,)"), eight, "a pickle");
  refuses(with("[('a', '<f4')]", "False", "(2,)"), eight, "records");
  refuses(with("'<f4'", "False", "(1, -2)"), eight, "not a tuple of sizes");
  refuses(with("'<f4'", "False", "(4611686018427387904, 4611686018427387904)"), eight,
          "larger than any file");
  refuses("{'descr': '<f4'}", eight, "lacks");
  refuses("{'descr': '<f4", eight, "has no end");
  refuses("nothing", eight, "not a dictionary");
  std::ofstream(folder / "x.npy", std::ios::binary) << "\x93NUMPY\1";
  EXPECT_NE(catchError({x}).find("not an .npy file"), std::string::npos);
}

// A header with changed bytes describes an array within its file, or is refused.
TEST_F(ArraySamplesTest, SurvivesChangedBytes) {
  write<float>("x", "<f4", "3, 2", {0, 1, 2, 3, 4, 5});
  const std::string path = (folder / "x.npy").string();
  std::ifstream file(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  std::mt19937 random(5);
  int refused = 0, accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = whole;
    for (unsigned flips = 1 + random() % 3; flips > 0; --flips)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    std::ofstream(path, std::ios::binary) << bytes;
    try {
      NpyFile npy(path);
      std::span<const std::byte> all = npy.mapping().bytes(), array = npy.array().bytes;
      EXPECT_LE(array.data() + array.size(), all.data() + all.size());
      ++accepted;
    } catch (const UserError &) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(accepted, 0);
}

TEST_F(ArraySamplesTest, ReadsSafetensors) {
  const std::string path = (folder / "set.safetensors").string();
  const std::vector<float> values{1, 2, 3, 4};
  SafetensorsWriter writer(path, {{"x", DType::F32, {2, 2}}});
  writer.write(0, 0, std::as_bytes(std::span(values)));
  writer.finish();
  ArraySamples samples(path, {{"x", DType::F64, {2}}});
  EXPECT_EQ(read<double>(samples, 1, 0, 0, 2), (std::vector<double>{3, 4}));
}

} // namespace
