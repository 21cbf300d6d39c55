// The configurations that a run keeps from the source of its weights.
#include "weights/SourceFiles.h"

#include "base/Error.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace fs = std::filesystem;

namespace titan::rt {
namespace {

class SourceFilesTest : public testing::Test {
protected:
  SourceFilesTest() {
    config = R"({"config": {"architectures": ["A"]}, "lines": []})";
    fs::create_directories(source);
    fs::create_directories(run);
  }
  ~SourceFilesTest() override { fs::remove_all(root); }

  static void write(const fs::path &path, const char *content) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << content;
  }
  SourceFiles find(const std::vector<WeightSource> &sources) const {
    return findSourceFiles(config, sources);
  }

  static constexpr const char *ofA = R"({"architectures": ["A"]})";
  const fs::path root =
      fs::temp_directory_path() / ("titan-source-files-" + std::to_string(getpid()));
  const fs::path source = root / "source", run = root / "run";
  std::string config;
};

TEST_F(SourceFilesTest, AreOfTheProgramsArchitecture) {
  EXPECT_EQ(find({{"", source}}).config, "");
  write(source / "config.json", ofA);
  EXPECT_EQ(find({{"", source}}).config, source / "config.json");
  EXPECT_EQ(find({{"", source / "config.json"}}).config, source / "config.json");
  write(root / "other" / "config.json", R"({"architectures": ["B"]})");
  EXPECT_EQ(find({{"", root / "other"}, {"teacher.", source}}).config, source / "config.json");
  EXPECT_EQ(find({{"teacher.", source}, {"", root / "other"}}).config, source / "config.json");
  for (const char *config : {"{}", R"({"architectures": "A"})", R"({"architectures": []})"}) {
    write(source / "config.json", config);
    EXPECT_EQ(find({{"", source}}).config, "") << config;
  }
  write(source / "config.json", "[]");
  EXPECT_THROW(find({{"", source}}), UserError);
}

// Keys of one model type have one meaning, whatever the head is; a model may be a part.
TEST_F(SourceFilesTest, DescribeTheProgramsModel) {
  using Json = nlohmann::ordered_json;
  const Json own = Json::parse(R"({"architectures": ["AHead"], "model_type": "a"})");
  auto find = [&](const char *source) { return findModelConfig(Json::parse(source), own).dump(); };
  EXPECT_EQ(find(R"({"model_type": "a", "x": 1})"),
            R"({"model_type":"a","x":1,"architectures":["AHead"]})");
  EXPECT_EQ(find(R"({"architectures": ["AHead"], "model_type": "b"})"), "null");
  EXPECT_EQ(find(R"({"pad_token_id": 3, "eos_token_id": 4, "vision": {}, "model_type": "b",
                     "text": {"eos_token_id": 5, "model_type": "a"}})"),
            R"({"eos_token_id":5,"model_type":"a","pad_token_id":3,"architectures":["AHead"]})");
}

TEST_F(SourceFilesTest, AreSavedByRunsAndFoundBesideCheckpoints) {
  write(source / "config.json", ofA);
  write(source / "generation_config.json", "{}");
  keepSourceFiles(find({{"", source}}), run, Existing::Replace);
  const fs::path checkpoint = run / "checkpoints" / "step-1";
  write(checkpoint / "checkpoint.json", "{}");
  write(run / "model.safetensors", "");
  for (const fs::path &from : {run, checkpoint, run / "model.safetensors"}) {
    const SourceFiles files = find({{"", from}});
    EXPECT_EQ(files.config, run / sourceConfigName) << from;
    EXPECT_EQ(files.generation, run / "generation_config.json") << from;
  }
  keepSourceFiles(find({{"", run}}), run, Existing::Replace); // starts from its own directory
  EXPECT_TRUE(fs::exists(run / sourceConfigName));
  EXPECT_TRUE(fs::exists(run / "generation_config.json"));
}

// A run that continues keeps its own files; a new one has no files of an earlier run.
TEST_F(SourceFilesTest, AreThoseOfTheRun) {
  write(source / "config.json", ofA);
  write(source / "generation_config.json", "{}");
  write(run / sourceConfigName, "{\"old\": 1}");
  keepSourceFiles(find({{"", source}}), run, Existing::Keep);
  EXPECT_TRUE(readJsonObject(run / sourceConfigName).contains("old"));
  keepSourceFiles({}, run, Existing::Replace);
  EXPECT_FALSE(fs::exists(run / sourceConfigName));
  EXPECT_FALSE(fs::exists(run / "generation_config.json"));
}

// generation_config.json has numbers of tokens, so it stays with its tokenizer.
TEST_F(SourceFilesTest, OfGenerationBelongToTheTokenizer) {
  write(source / "generation_config.json", R"({"eos_token_id": 1})");
  EXPECT_EQ(find({{"", source}}).generation, source / "generation_config.json");
  write(run / "generation_config.json", R"({"eos_token_id": 2})");
  copyGenerationConfig(find({{"", source}}), run);
  EXPECT_EQ(readJsonObject(run / "generation_config.json")["eos_token_id"], 2);
  write(source / "tokenizer.json", "{}");
  EXPECT_EQ(find({{"", source}}).generation, "");
}

} // namespace
} // namespace titan::rt
