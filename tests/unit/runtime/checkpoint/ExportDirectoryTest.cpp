// Directories of exports: which are refused, and what replaces an earlier export.
#include "checkpoint/ExportDirectory.h"

#include "base/Error.h"
#include "base/files/Safetensors.h"

#include <filesystem>
#include <fstream>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace titan;
using namespace titan::rt;

namespace fs = std::filesystem;

namespace {

using testing::HasSubstr;

class ExportDirectoryTest : public testing::Test {
protected:
  void SetUp() override {
    fs::remove_all(root);
    fs::create_directories(root / "from");
  }
  void TearDown() override { fs::remove_all(root); }

  /// A file of weights; `isExported`: as an export writes it.
  static void writeWeights(const fs::path &path, bool isExported) {
    SafetensorsWriter writer(path.string(), {{"w", DType::F32, {1}}},
                             isExported ? ExportDirectory::metadata()
                                        : std::map<std::string, std::string>{{"format", "pt"}});
    const float one = 1;
    writer.write(0, 0, std::as_bytes(std::span(&one, 1)));
    writer.finish();
  }

  void publish(const std::vector<std::string> &names) const {
    ExportDirectory directory(out, {});
    const fs::path folder = ExportDirectory::folderIn(out);
    for (const std::string &name : names)
      if (name.ends_with(".safetensors"))
        writeWeights(folder / name, true);
      else
        std::ofstream(folder / name) << "{}";
    directory.publish();
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto &entry : fs::directory_iterator(out))
      all.push_back(entry.path().filename().string());
    return all;
  }

  std::string refusal() const {
    const std::vector<WeightSource> sources{{"", (root / "from").string()}};
    try {
      ExportDirectory::check(out, sources);
    } catch (const UserError &error) {
      return error.what();
    }
    return "";
  }

  // Tests run at the same time, each in a process of its own.
  fs::path root = fs::temp_directory_path() / ("titan-export-" + std::to_string(::getpid()));
  std::string out = (root / "out").string();
};

TEST_F(ExportDirectoryTest, NewDirectories) {
  EXPECT_EQ(refusal(), "");
  publish({"model.safetensors", "config.json"});
  EXPECT_EQ(refusal(), "");
  EXPECT_THAT(names(), testing::UnorderedElementsAre("model.safetensors", "config.json"));
}

/// Fewer files, more files, and an index that is no longer needed.
TEST_F(ExportDirectoryTest, EarlierExportsAreReplaced) {
  const std::string index = "model.safetensors.index.json";
  const std::string first = "model-00001-of-00002.safetensors",
                    second = "model-00002-of-00002.safetensors";
  publish({"model.safetensors", "config.json"});
  std::ofstream(fs::path(out) / "README.md") << "kept";
  publish({first, second, index, "config.json"});
  EXPECT_THAT(names(),
              testing::UnorderedElementsAre(first, second, index, "config.json", "README.md"));
  publish({"model.safetensors", "config.json"});
  EXPECT_THAT(names(),
              testing::UnorderedElementsAre("model.safetensors", "config.json", "README.md"));
}

TEST_F(ExportDirectoryTest, OtherWeightsAreRefusedByName) {
  publish({"model.safetensors"});
  writeWeights(fs::path(out) / "adapter.safetensors", false);
  std::ofstream(fs::path(out) / "damaged.safetensors") << "no weights";
  EXPECT_THAT(refusal(),
              HasSubstr("not of an export: 'adapter.safetensors', 'damaged.safetensors'"));
  EXPECT_THAT(refusal(), HasSubstr("pass another directory, or remove these files"));
}

TEST_F(ExportDirectoryTest, SourcesAndRunsAreRefused) {
  fs::create_directory_symlink(root / "from", out);
  writeWeights(root / "from" / "model.safetensors", true);
  EXPECT_THAT(refusal(), HasSubstr("is the directory of --init-from"));
  fs::remove(out);
  fs::create_directory(out);
  std::ofstream(fs::path(out) / "status.json") << "{}";
  EXPECT_THAT(refusal(), HasSubstr("is the directory of a run"));
}

/// Weights of other libraries, files that nobody exported, and names that no file can replace.
TEST_F(ExportDirectoryTest, OtherFilesAreRefusedByName) {
  fs::create_directory(out);
  std::ofstream(fs::path(out) / "pytorch_model.bin") << "weights";
  EXPECT_THAT(refusal(), HasSubstr("weights that are not of an export: 'pytorch_model.bin'"));
  fs::remove(fs::path(out) / "pytorch_model.bin");
  std::ofstream(fs::path(out) / "config.json") << "{}";
  std::ofstream(fs::path(out) / "tokenizer.json") << "{}";
  EXPECT_THAT(refusal(),
              HasSubstr("files that are not of an export: 'config.json', 'tokenizer.json'"));
  // An export that ended before its weights came.
  std::ofstream(fs::path(out) / "config.json") << R"({"titan": null})";
  EXPECT_EQ(refusal(), "");
  fs::remove(fs::path(out) / "tokenizer.json");
  fs::create_directory(fs::path(out) / "tokenizer.json");
  EXPECT_THAT(refusal(), HasSubstr("it is a folder"));
}

TEST_F(ExportDirectoryTest, FoldersOfRunsAreRefused) {
  const fs::path run = root / "run";
  out = (run / "checkpoints").string();
  fs::create_directories(out);
  std::ofstream(run / "status.json") << "{}";
  EXPECT_THAT(refusal(), HasSubstr("is the directory of a run"));
  out += "/";
  EXPECT_THAT(refusal(), HasSubstr("is the directory of a run"));
  fs::remove(run / "status.json");
  EXPECT_EQ(refusal(), "");
  fs::create_directories(fs::path(out) / "step-20");
  EXPECT_THAT(refusal(), HasSubstr("'step-20'"));
}

/// While one export has the directory, another is refused, and destroys nothing.
TEST_F(ExportDirectoryTest, OneAtATime) {
  const fs::path folder = ExportDirectory::folderIn(out);
  {
    ExportDirectory first(out, {});
    writeWeights(folder / "model.safetensors", true);
    try {
      ExportDirectory(out, {});
      ADD_FAILURE() << "two exports have one directory";
    } catch (const UserError &error) {
      EXPECT_THAT(error.what(), HasSubstr("another export writes to"));
      EXPECT_THAT(error.what(), HasSubstr("pass another --hf DIR, or wait"));
    }
    first.publish();
  }
  EXPECT_THAT(names(), testing::UnorderedElementsAre("model.safetensors"));
}

/// What is reported is what is there.
TEST_F(ExportDirectoryTest, SuccessIsLookedAt) {
  publish({"model.safetensors", "config.json"});
  ExportDirectory directory(out, {});
  const fs::path folder = ExportDirectory::folderIn(out);
  std::ofstream(folder / "config.json") << "{}";
  fs::create_directory(folder / "model.safetensors"); // a file that becomes none
  EXPECT_THROW(directory.publish(), std::exception);
  EXPECT_THAT(names(), testing::Contains("model.safetensors")); // of the earlier export
}

/// A tokenizer of another kind would be mixed with that of the new export.
TEST_F(ExportDirectoryTest, EarlierTokenizersAreRemoved) {
  publish({"model.safetensors", "config.json", "tokenizer.model", "chat_template.jinja"});
  publish({"model.safetensors", "config.json"});
  EXPECT_THAT(names(), testing::Contains("tokenizer.model"));
  publish({"model.safetensors", "config.json", "tokenizer.json"});
  EXPECT_THAT(names(),
              testing::UnorderedElementsAre("model.safetensors", "config.json", "tokenizer.json"));
}

/// An export that fails leaves nothing, and the earlier one stays.
TEST_F(ExportDirectoryTest, UnfinishedExports) {
  publish({"model.safetensors"});
  {
    ExportDirectory directory(out, {});
    writeWeights(fs::path(ExportDirectory::folderIn(out)) / "model-00001-of-00002.safetensors",
                 true);
  }
  EXPECT_THAT(names(), testing::UnorderedElementsAre("model.safetensors"));
  fs::create_directory(ExportDirectory::folderIn(out)); // of a killed process
  std::ofstream(fs::path(ExportDirectory::folderIn(out)) / "old") << "";
  publish({"model.safetensors"});
  EXPECT_THAT(names(), testing::UnorderedElementsAre("model.safetensors"));
}

} // namespace
