#include "titan/runtime/checkpoint.h"
#include "titan/runtime/checksum.h"
#include "titan/runtime/error.h"
#include "titan/runtime/safetensors.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace fs = std::filesystem;
using namespace titan::rt;

namespace {

class CheckpointTest : public testing::Test {
protected:
  CheckpointTest()
      : folder(fs::temp_directory_path() / ("titan-checkpoint-" + std::to_string(getpid()))) {
    fs::create_directories(folder);
  }
  ~CheckpointTest() override { fs::remove_all(folder); }
  void write(const std::string &name, const std::string &content) {
    std::ofstream(folder / name, std::ios::binary) << content;
  }
  std::string read(const std::string &name) {
    std::stringstream text;
    text << std::ifstream(folder / name).rdbuf();
    return text.str();
  }
  fs::path folder;
};

// The values of RFC 3720 (iSCSI), and that a checksum can be continued at any byte.
TEST(Checksum, KnownValues) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(crc32c(""), 0u);
  std::string text = "a text that is longer than a few words of the processor";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    std::span<const std::byte> bytes = std::as_bytes(std::span(text));
    EXPECT_EQ(crc32c(bytes.subspan(cut), crc32c(bytes.first(cut))), crc32c(text));
  }
}

Manifest example() {
  return {20,
          7,
          80,
          123,
          "debug",
          "0123",
          {{"model-00001-of-00001.safetensors", Manifest::Content::Parameters, 16, 0xffffffffu},
           {"optimizer-00001-of-00001.safetensors", Manifest::Content::Optimizer, 32, 1}}};
}

// What is written is read again.
TEST_F(CheckpointTest, ManifestRoundTrip) {
  writeManifest(folder, example());
  Manifest read = readManifest(folder);
  EXPECT_EQ(read.step, 20);
  EXPECT_EQ(read.seed, 7u);
  EXPECT_EQ(read.sample, 80);
  EXPECT_EQ(read.samplesInEpoch, 123);
  EXPECT_EQ(read.run, "debug");
  EXPECT_EQ(read.model, "0123");
  ASSERT_EQ(read.files.size(), 2u);
  EXPECT_EQ(read.files[0].crc, 0xffffffffu);
  EXPECT_EQ(read.paths("d", Manifest::Content::Optimizer),
            std::vector<std::string>{"d/optimizer-00001-of-00001.safetensors"});
}

// Any change of a manifest's numbers, a cut, or another format is refused with the file's name.
TEST_F(CheckpointTest, DamagedManifests) {
  writeManifest(folder, example());
  std::string good = read("checkpoint.json");
  auto refused = [&](const std::string &content, const std::string &reason) {
    write("checkpoint.json", content);
    try {
      readManifest(folder);
      ADD_FAILURE() << "accepted: " << content;
    } catch (const UserError &error) {
      std::string text = error.what();
      EXPECT_NE(text.find("checkpoint.json"), std::string::npos) << text;
      EXPECT_NE(text.find(reason), std::string::npos) << text;
    }
  };
  auto with = [&](const std::string &from, const std::string &to) {
    std::string changed = good;
    return changed.replace(good.find(from), from.size(), to);
  };
  refused(with("\"step\": 20", "\"step\": 21"), "checksum");
  refused(with("\"bytes\": 32", "\"bytes\": 33"), "checksum");
  refused(with("\"format\": 1", "\"format\": 2"), "format 2");
  refused(good.substr(0, good.size() / 2), "damaged");
  refused("", "damaged");
  refused("[]", "damaged");
  fs::remove(folder / "checkpoint.json");
  EXPECT_THROW(readManifest(folder), UserError);
}

// Directories of the right name count, newest step first; unfinished ones do not.
TEST_F(CheckpointTest, Listing) {
  for (const char *name : {"step-9", "step-10", "step-100.partial", "step-x", "other"})
    fs::create_directories(folder / "checkpoints" / name);
  EXPECT_EQ(listCheckpoints(folder),
            (std::vector<std::string>{(folder / "checkpoints/step-10").string(),
                                      (folder / "checkpoints/step-9").string()}));
  EXPECT_TRUE(listCheckpoints(folder / "absent").empty());
}

// Tensors stay in order and whole; one that is too large has a file of its own.
TEST(Shards, Cuts) {
  using Ends = std::vector<size_t>;
  auto cut = [](std::vector<int64_t> sizes) { return cutIntoShards(sizes, 10); };
  EXPECT_EQ(cut({}), Ends{});
  EXPECT_EQ(cut({4, 6}), Ends{2});
  EXPECT_EQ(cut({4, 6, 1}), (Ends{2, 3}));
  EXPECT_EQ(cut({20, 1, 20}), (Ends{1, 2, 3}));
  EXPECT_EQ(cut({0, 10, 0}), Ends{3});
}

// An index and its files are read like one file; a run's directory by its latest checkpoint.
TEST_F(CheckpointTest, WeightsOfACheckpoint) {
  fs::path at = folder / "checkpoints" / "step-3";
  fs::create_directories(at);
  std::vector<Shard> shards = {{"model-00001-of-00002.safetensors", {{"a", 4}}},
                               {"model-00002-of-00002.safetensors", {{"b", 4}}}};
  float value = 1;
  for (const Shard &shard : shards) {
    SafetensorsWriter writer((at / shard.file).string(),
                             {{shard.tensors[0].first, DType::F32, {}}});
    writer.write(0, 0, std::as_bytes(std::span(&value, 1)));
    writer.finish();
    ++value;
  }
  writeShardIndex(at, "model", shards);
  for (const fs::path &path : {at, folder}) {
    WeightStore store(path);
    EXPECT_EQ(store.names(), (std::vector<std::string>{"a", "b"}));
    store.readRange("b", 0, 1, DType::F32, &value);
    EXPECT_EQ(value, 2);
  }
}

} // namespace
