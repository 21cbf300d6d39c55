// The configuration of adapters in a directory beside that of a program.
#include "weights/AdapterConfig.h"

#include "base/Error.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <gtest/gtest.h>

namespace fs = std::filesystem;

namespace titan::rt {
namespace {

class AdapterConfigTest : public testing::Test {
protected:
  AdapterConfigTest() { fs::create_directories(folder); }
  ~AdapterConfigTest() override {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }

  void write(const char *config) { std::ofstream(folder / adapterConfigName) << config; }
  void check(const std::string &program) { checkAdapterConfig(program, folder.string()); }

  const std::string program =
      R"({"config": {}, "adapters": {"wq": {"r": 8, "pattern": null}, "wv": {"r": 8, "pattern": null}}})";
  const fs::path folder =
      fs::temp_directory_path() / ("titan-adapter-config-" + std::to_string(getpid()));
};

TEST_F(AdapterConfigTest, AcceptsTheProgramsAdapters) {
  check(program); // without a file
  for (const char *config : {R"({"r": 8})", R"({"r": 8.0, "other": 1, "pattern": {}})",
                             R"({"r": 8, "pattern": null})", "{}"}) {
    write(config);
    EXPECT_NO_THROW(check(program)) << config;
  }
}

// Their tensors mean the same in a program with another dropout.
TEST_F(AdapterConfigTest, AcceptsWhatActsInTrainingAlone) {
  write(R"({"r": 8, "dropout": 0.5})");
  const std::string own = R"({"adapters": {"wq": {"r": 8, "dropout": 0.0}})";
  EXPECT_THROW(check(own + "}"), UserError);
  EXPECT_NO_THROW(check(own + R"(, "adapter_training": ["dropout"]})"));
}

TEST_F(AdapterConfigTest, RefusesOtherAdapters) {
  for (const char *config : {R"({"r": 4})", R"({"r": 8, "pattern": {"x": 4}})", "[]", "{"}) {
    write(config);
    EXPECT_THROW(check(program), UserError) << config;
  }
  write(R"({"r": 8})");
  EXPECT_THROW(check(""), UserError);
  EXPECT_THROW(check(R"({"config": {}})"), UserError);
}

TEST_F(AdapterConfigTest, NeedsOneConfiguration) {
  write(R"({"r": 8})");
  EXPECT_THROW(check(R"({"adapters": {"wq": {"r": 8}, "wv": {"r": 4}}})"), UserError);
  EXPECT_EQ(getCommonConfig(getAdapterConfigs(program))["r"], 8);
  EXPECT_TRUE(getAdapterConfigs(R"({"config": {}})").empty());
}

} // namespace
} // namespace titan::rt
