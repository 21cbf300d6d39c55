// Checksums, manifests and lists of checkpoints, valid and damaged.
#include "base/Error.h"
#include "files/Checksum.h"
#include "manifest/Manifest.h"
#include "weights/WeightStore.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <unistd.h>

namespace fs = std::filesystem;
using namespace titan;
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

// The values of RFC 3720 (iSCSI); a checksum can be continued at any byte.
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

// Non-finite checkpoints do not displace finite ones.
TEST_F(CheckpointTest, KeepsFiniteOnes) {
  auto save = [&](int64_t step, bool isFinite) {
    const fs::path directory = folder / ("checkpoints/step-" + std::to_string(step));
    fs::create_directories(directory);
    Manifest manifest = example();
    manifest.step = step;
    manifest.isFinite = isFinite;
    writeManifest(directory.string(), manifest);
  };
  auto surplus = [&](int64_t keep, int64_t keepEvery = 0) {
    std::vector<std::string> names;
    for (const std::string &directory : surplusCheckpoints(folder.string(), {keep, keepEvery}))
      names.push_back(fs::path(directory).filename());
    return names;
  };
  for (int64_t step = 1; step <= 6; ++step)
    save(step, step <= 3);
  fs::create_directories(folder / "checkpoints/step-7"); // damaged
  using Names = std::vector<std::string>;
  EXPECT_EQ(surplus(0), Names());
  EXPECT_EQ(surplus(4), Names());
  EXPECT_EQ(surplus(2), (Names{"step-5", "step-4", "step-1"}));
  EXPECT_EQ(surplus(1), (Names{"step-6", "step-5", "step-4", "step-2", "step-1"}));
  EXPECT_EQ(surplus(1, 2), (Names{"step-6", "step-5", "step-4", "step-1"})); // finite ones only
  EXPECT_EQ(findLatestFinite(folder.string()), (folder / "checkpoints/step-3").string());
  EXPECT_EQ(findLatestFinite((folder / "none").string()), "");
}

// A written manifest is read back.
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

// Inputs with any path are written as words that are read back, and manifests without them too.
TEST_F(CheckpointTest, ManifestOfInputs) {
  Manifest manifest = example();
  writeManifest(folder, manifest);
  EXPECT_TRUE(readManifest(folder).identity.data.empty());
  EXPECT_FALSE(readManifest(folder).identity.passes);
  using Input = Identity::Input;
  manifest.identity.data = {
      Input{"data.path", "a.txt", "9 bytes"},
      Identity::makeInput("data.path 2", "b\xff\n.txt", "8 bytes"),
      Identity::makeInput("data.path 3", "folder/" + std::string(300, 'f') + "/c", "7 bytes")};
  manifest.identity.tokenizer = {Input{"tokenizer.json", "t/tokenizer.json", "5 bytes"}};
  manifest.identity.passes.emplace();
  writeManifest(folder, manifest);
  const Manifest read = readManifest(folder);
  EXPECT_EQ(read.identity.data, manifest.identity.data);
  EXPECT_EQ(read.identity.data[1].path, "b\xef\xbf\xbd?.txt");
  EXPECT_EQ(read.identity.data[2].path, "c");
  EXPECT_EQ(read.identity.tokenizer, manifest.identity.tokenizer);
  EXPECT_TRUE(read.identity.passes && read.identity.passes->empty());
}

TEST(Identity, ChangesNameBothSides) {
  using Inputs = std::vector<Identity::Input>;
  const Inputs then{{"data.path", "a.txt", "9 bytes"}, {"x", "", "1"}};
  EXPECT_EQ(describeChanges(then, then), "");
  // The place of a file does not matter.
  EXPECT_EQ(describeChanges(then, {{"data.path", "copy.txt", "9 bytes"}, {"x", "", "1"}}), "");
  EXPECT_EQ(describeChanges(then, {{"data.path", "b.txt", "8 bytes"}, {"y", "c", "2"}}),
            "data.path: 'a.txt' (9 bytes) then, 'b.txt' (8 bytes) now; x: 1 then, nothing now; "
            "y: nothing then, 'c' (2) now");
}

// Changed numbers, truncation, or another format are refused with the file's name.
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

// Whatever a manifest with a valid checksum contains, an error names file and field.
TEST_F(CheckpointTest, HostileManifests) {
  const fs::path step = folder / "step-20";
  fs::create_directories(step);
  auto refused = [&](const std::function<void(Manifest &)> &change, const std::string &words) {
    Manifest manifest = example();
    change(manifest);
    writeManifest(step, manifest);
    try {
      readManifest(step);
      ADD_FAILURE() << "accepted; expected: " << words;
    } catch (const UserError &error) {
      std::string text = error.what();
      EXPECT_EQ(text.rfind((step / "checkpoint.json").string(), 0), 0u) << text;
      EXPECT_NE(text.find(words), std::string::npos) << text;
    }
  };
  refused([](Manifest &m) { m.step = -1; }, "`step` is -1, expected a whole number from 0");
  refused([](Manifest &m) { m.step = 21; }, "`step` is 21, but the folder is named step-20");
  refused([](Manifest &m) { m.sample = -4; }, "`data.sample` is -4");
  refused([](Manifest &m) { m.sample = INT64_MAX; }, "`data.sample` is 9223372036854775807");
  refused([](Manifest &m) { m.samplesInEpoch = -1; }, "`data.samples_in_epoch` is -1");
  refused([](Manifest &m) { m.files[1].bytes = -1; }, "`files[1].bytes` is -1");
  for (const char *name : {"/etc/shadow", "../../x", "..", ".", "", "a/", "a\nb"})
    refused([&](Manifest &m) { m.files[0].name = name; }, "`files[0].name` is");
  refused([](Manifest &m) { m.files[1].name = m.files[0].name; }, "has the same name");
  refused([](Manifest &m) { m.run = "a\x1b[2J"; }, "`run` is");
  // In a folder with another name, it may be of any step.
  Manifest copied = example();
  copied.step = 21;
  fs::create_directories(folder / "kept");
  writeManifest(folder / "kept", copied);
  EXPECT_EQ(readManifest(folder / "kept").step, 21);
}

// The nesting depth is checked before anything recurses.
TEST_F(CheckpointTest, DeepManifest) {
  const std::string deep(1'000'000, '[');
  write("checkpoint.json", R"({"format": 1, "crc32c": 0, "a": )" + deep);
  try {
    readManifest(folder);
    ADD_FAILURE() << "accepted";
  } catch (const UserError &error) {
    EXPECT_NE(std::string(error.what()).find("nests deeper than"), std::string::npos)
        << error.what();
  }
}

// Directories with valid names count, newest step first; partial ones do not.
TEST_F(CheckpointTest, Listing) {
  for (const char *name : {"step-9", "step-10", "step-100.partial", "step-x", "step-007", "other"})
    fs::create_directories(folder / "checkpoints" / name);
  EXPECT_EQ(listCheckpoints(folder),
            (std::vector<std::string>{(folder / "checkpoints/step-10").string(),
                                      (folder / "checkpoints/step-9").string()}));
  EXPECT_TRUE(listCheckpoints(folder / "absent").empty());
  // Only a missing directory means no checkpoints.
  fs::create_directories(folder / "run");
  EXPECT_TRUE(listCheckpoints(folder / "run").empty());
  fs::create_symlink("/nowhere/mounted", folder / "run/checkpoints");
  EXPECT_THROW(listCheckpoints(folder / "run"), UserError);
  fs::create_symlink("nowhere", folder / "dangling");
  EXPECT_THROW(listCheckpoints(folder / "dangling"), UserError);
}

// Tensors stay in order and undivided; a tensor that is too large gets its own file.
TEST(Shards, Cuts) {
  using Ends = std::vector<size_t>;
  auto cut = [](std::vector<int64_t> sizes) { return cutIntoShards(sizes, 10); };
  EXPECT_EQ(cut({}), Ends{});
  EXPECT_EQ(cut({4, 6}), Ends{2});
  EXPECT_EQ(cut({4, 6, 1}), (Ends{2, 3}));
  EXPECT_EQ(cut({20, 1, 20}), (Ends{1, 2, 3}));
  EXPECT_EQ(cut({0, 10, 0}), Ends{3});
}

// An index and its files read like one file; a run's directory reads as its latest checkpoint.
TEST_F(CheckpointTest, WeightsOfACheckpoint) {
  fs::path at = folder / "checkpoints" / "step-3";
  fs::create_directories(at);
  std::vector<Shard> shards = {{"model-00001-of-00002.safetensors", {{"a", 4}}},
                               {"model-00002-of-00002.safetensors", {{"b", 4}}}};
  float value = 1;
  for (const Shard &shard : shards) {
    SafetensorsWriter writer((at / shard.file).string(), {{shard.tensors[0].name, DType::F32, {}}});
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
