// Reading and writing of safetensors files, valid and hostile.
#include "base/Error.h"
#include "weights/WeightStore.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <unistd.h>

using namespace titan;
using namespace titan::rt;
using testing::HasSubstr;

namespace {

class Safetensors : public testing::Test {
protected:
  Safetensors() {
    directory =
        std::filesystem::temp_directory_path() / ("titan-safetensors-" + std::to_string(getpid()));
    std::filesystem::create_directories(directory);
  }
  ~Safetensors() override { std::filesystem::remove_all(directory); }

  std::string path(const std::string &name) const { return (directory / name).string(); }

  /// Writes a file with this header and this number of data bytes.
  std::string writeRaw(const std::string &header, size_t dataBytes) {
    std::ofstream stream(path("raw"), std::ios::binary);
    uint64_t length = header.size();
    stream.write(reinterpret_cast<const char *>(&length), 8);
    stream << header << std::string(dataBytes, '\1');
    return path("raw");
  }

  /// The reader's error for such a file.
  std::string complaint(const std::string &header, size_t dataBytes) {
    std::string file = writeRaw(header, dataBytes);
    try {
      SafetensorsFile opened(file);
    } catch (const UserError &error) {
      EXPECT_THAT(error.what(), HasSubstr(file)) << "the file is not named";
      return error.what();
    }
    return "accepted";
  }

  std::filesystem::path directory;
};

template <typename T> std::span<const std::byte> viewBytes(const std::vector<T> &values) {
  return std::as_bytes(std::span<const T>(values));
}

// Written files are read back: names, types, shapes, bytes, metadata.
TEST_F(Safetensors, RoundTrip) {
  std::vector<float> a(6);
  std::iota(a.begin(), a.end(), 1.5f);
  std::vector<double> b{3.25, -1};
  SafetensorsWriter writer(
      path("w.safetensors"),
      {{"a", DType::F32, {2, 3}}, {"b", DType::F64, {2}}, {"e", DType::F32, {0}}},
      {{"format", "pt"}});
  writer.write(1, 0, viewBytes(b));
  writer.write(0, 12, viewBytes(a).subspan(12));
  writer.write(0, 0, viewBytes(a).first(12));
  EXPECT_FALSE(std::filesystem::exists(path("w.safetensors"))) << "visible before it is complete";
  writer.finish();
  EXPECT_FALSE(std::filesystem::exists(path("w.safetensors.partial")));

  SafetensorsFile file(path("w.safetensors"));
  ASSERT_EQ(file.tensors().size(), 3u);
  const StoredTensor &read = file.tensors().at("a");
  EXPECT_EQ(read.dtype, "F32");
  EXPECT_EQ(read.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(std::memcmp(read.bytes.data(), a.data(), 24), 0);
  EXPECT_EQ(file.tensors().at("b").dtype, "F64");
  EXPECT_EQ(file.metadata().at("format"), "pt");
}

// An unfinished writer leaves no file.
TEST_F(Safetensors, UnfinishedWriterLeavesNothing) {
  {
    SafetensorsWriter writer(path("w"), {{"a", DType::F32, {2}}});
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory));
}

// Ranges of a tensor are read with conversion; a range beyond its end is refused.
TEST_F(Safetensors, ReadsRanges) {
  std::vector<float> a(24);
  std::iota(a.begin(), a.end(), 0.f);
  SafetensorsWriter writer(path("model.safetensors"), {{"a", DType::F32, {2, 3, 4}}});
  writer.write(0, 0, viewBytes(a));
  writer.finish();
  WeightStore store(directory);
  std::vector<double> range(3);
  store.readRange("a", 11, 3, DType::F64, range.data());
  EXPECT_EQ(range, (std::vector<double>{11, 12, 13}));
  EXPECT_THROW(store.readRange("a", 22, 3, DType::F64, range.data()), UserError);
}

// Several processes write one file: joining writers use the creator's layout.
TEST_F(Safetensors, SeveralWriters) {
  std::vector<TensorSpec> specs{{"a", DType::F64, {2}}};
  std::vector<double> one{1}, two{2};
  SafetensorsWriter creator(path("w"), specs);
  SafetensorsWriter joined(path("w"), specs, {}, SafetensorsWriter::Role::Join);
  joined.write(0, 8, viewBytes(two));
  joined.finish();
  creator.write(0, 0, viewBytes(one));
  creator.finish();
  double values[2];
  WeightStore(path("w")).readRange("a", 0, 2, DType::F64, values);
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[1], 2);
}

// Half-precision values are widened exactly, including subnormals and infinities.
TEST_F(Safetensors, WidensHalfPrecision) {
  std::string header = R"({"h":{"dtype":"F16","shape":[5],"data_offsets":[0,10]},)"
                       R"("b":{"dtype":"BF16","shape":[2],"data_offsets":[10,14]}})";
  std::ofstream stream(path("model.safetensors"), std::ios::binary);
  uint64_t length = header.size();
  uint16_t words[7] = {0x3c00, 0xc100, 0x0001, 0x7c00, 0x8000, 0x3f80, 0xc020};
  stream.write(reinterpret_cast<const char *>(&length), 8);
  stream << header;
  stream.write(reinterpret_cast<const char *>(words), sizeof(words));
  stream.close();
  WeightStore store(directory);
  std::vector<float> h(5), b(2);
  store.readRange("h", 0, 5, DType::F32, h.data());
  store.readRange("b", 0, 2, DType::F32, b.data());
  EXPECT_EQ(h, (std::vector<float>{1, -2.5, 0x1p-24f, INFINITY, -0.f}));
  EXPECT_EQ(b, (std::vector<float>{1, -2.5}));
}

// A directory with an index reads all its files; missing names and wrong shapes are refused.
TEST_F(Safetensors, ReadsShardedDirectories) {
  std::vector<float> value{4};
  for (std::string name : {"x", "y"}) {
    SafetensorsWriter writer(path("model-" + name + ".safetensors"), {{name, DType::F32, {1}}});
    writer.write(0, 0, viewBytes(value));
    writer.finish();
  }
  std::ofstream(path("model.safetensors.index.json"))
      << R"({"weight_map":{"x":"model-x.safetensors","y":"model-y.safetensors"}})";
  WeightStore store(directory);
  EXPECT_EQ(store.names(), (std::vector<std::string>{"x", "y"}));
  float out;
  store.readRange("y", 0, 1, DType::F32, &out);
  EXPECT_EQ(out, 4);
  auto complaint = [&](const std::map<std::string, std::vector<int64_t>> &shapes) -> std::string {
    try {
      store.expectExactly(shapes);
    } catch (const UserError &error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(complaint({{"x", {1}}, {"y", {1}}}), "accepted");
  EXPECT_THAT(complaint({{"x", {1}}, {"y", {1}}, {"z", {1}}}), HasSubstr("no tensor 'z'"));
  EXPECT_THAT(complaint({{"x", {2}}, {"y", {1}}}),
              HasSubstr("has shape [1], the program needs [2]"));
  EXPECT_THAT(complaint({{"x", {1}}}), HasSubstr("no parameter 'y'"));
}

// An index cannot name files outside of its directory, and a directory without weights is an error.
TEST_F(Safetensors, RefusesBadDirectories) {
  EXPECT_THROW(WeightStore store(directory), UserError);
  std::ofstream(path("model.safetensors.index.json")) << R"({"weight_map":{"x":"../other"}})";
  EXPECT_THROW(WeightStore store(directory), UserError);
  std::ofstream(path("model.safetensors.index.json")) << "{";
  EXPECT_THROW(WeightStore store(directory), UserError);
}

// Every invalid header is an error that names file and reason.
TEST_F(Safetensors, RefusesHostileHeaders) {
  auto tensor = [](const char *shape, const char *offsets, const char *dtype = "F32") {
    return std::string(R"({"a":{"dtype":")") + dtype + R"(","shape":)" + shape +
           R"(,"data_offsets":)" + offsets + "}}";
  };
  EXPECT_EQ(complaint(tensor("[2]", "[0,8]"), 8), "accepted");
  EXPECT_EQ(complaint("{}", 0), "accepted");
  EXPECT_THAT(complaint(tensor("[2]", "[0,8]"), 7), HasSubstr("truncated"));
  EXPECT_THAT(complaint(tensor("[2]", "[0,8]"), 9), HasSubstr("belong to no tensor"));
  EXPECT_THAT(complaint(tensor("[1]", "[4,8]"), 8), HasSubstr("belong to no tensor"));
  EXPECT_THAT(complaint(tensor("[3]", "[0,8]"), 8), HasSubstr("needs 12 bytes"));
  EXPECT_THAT(complaint(tensor("[-2]", "[0,8]"), 8), HasSubstr("a non-negative integer"));
  EXPECT_THAT(complaint(tensor("[2.5]", "[0,8]"), 8), HasSubstr("a non-negative integer"));
  EXPECT_THAT(complaint(tensor("[2]", "[-8,0]"), 8), HasSubstr("a non-negative integer"));
  EXPECT_THAT(complaint(tensor("[2]", "[8,0]"), 8), HasSubstr("is at bytes"));
  EXPECT_THAT(complaint(tensor("[2]", "[0,99999999999999999999]"), 8), HasSubstr("'a'"));
  EXPECT_THAT(complaint(tensor("[4294967296,4294967296]", "[0,8]"), 8), HasSubstr("larger than"));
  EXPECT_THAT(complaint(tensor("[2]", "[0,8]", "F99"), 8), HasSubstr("unknown dtype 'F99'"));
  EXPECT_THAT(complaint(tensor("[2]", "[0]"), 8), HasSubstr("two data_offsets"));
  EXPECT_THAT(complaint(R"({"a":3})", 0), HasSubstr("needs a dtype"));
  EXPECT_THAT(complaint("[1]", 0), HasSubstr("not a JSON object"));
  EXPECT_THAT(complaint("{", 0), HasSubstr("not valid JSON"));
  EXPECT_THAT(complaint(std::string(100000, '['), 0), HasSubstr("nests deeper"));
  EXPECT_THAT(complaint(R"({"__metadata__":{"a":1}})", 0), HasSubstr("not a string"));
  EXPECT_THAT(complaint(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                        R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                        1),
              HasSubstr("twice"));
  EXPECT_THAT(complaint(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                        R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
                        3),
              HasSubstr("overlap"));
}

// Files shorter than their headers claim, without a header, and absent ones are refused.
TEST_F(Safetensors, RefusesTruncatedFiles) {
  std::ofstream(path("short"), std::ios::binary) << "abc";
  EXPECT_THROW(SafetensorsFile file(path("short")), UserError);
  std::ofstream(path("long"), std::ios::binary) << std::string("\x10\0\0\0\0\0\0\0{}", 10);
  EXPECT_THROW(SafetensorsFile file(path("long")), UserError);
  std::ofstream(path("huge"), std::ios::binary) << std::string(16, '\xff');
  EXPECT_THROW(SafetensorsFile file(path("huge")), UserError);
  EXPECT_THROW(SafetensorsFile file(path("absent")), UserError);
}

} // namespace
