// Files of a tokenizer that an export copies.
#include "weights/TokenizerFiles.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace titan::rt;
namespace fs = std::filesystem;

namespace {

class TokenizerFiles : public testing::Test {
protected:
  TokenizerFiles() {
    fs::create_directories(from);
    fs::create_directories(to);
    previous = fs::current_path();
    fs::current_path(from);
  }
  ~TokenizerFiles() override {
    fs::current_path(previous);
    fs::remove_all(root);
  }
  void write(const char *name) const { std::ofstream(from / name) << name; }

  const fs::path root =
      fs::temp_directory_path() / ("titan-tokenizer-files-" + std::to_string(getpid()));
  const fs::path from = root / "from", to = root / "to";
  fs::path previous;
};

// The source is a directory or one of the tokenizer's files.
TEST_F(TokenizerFiles, AreCopied) {
  for (const char *name : {"tokenizer.json", "tokenizer_config.json", "model.safetensors"})
    write(name);
  EXPECT_EQ(tokenizerBeside(from), from);
  copyTokenizer(from / "tokenizer.json", to);
  EXPECT_TRUE(fs::exists(to / "tokenizer.json") && fs::exists(to / "tokenizer_config.json"));
  EXPECT_FALSE(fs::exists(to / "model.safetensors"));
  copyTokenizer(from, from); // a run that starts from its own directory
  EXPECT_TRUE(fs::exists(from / "tokenizer.json"));
}

TEST_F(TokenizerFiles, OfTheWorkingDirectoryAreNotTaken) {
  write("tokenizer.json");
  EXPECT_EQ(tokenizerBeside(""), "");
  copyTokenizer("", to);
  EXPECT_TRUE(fs::is_empty(to));
}

TEST_F(TokenizerFiles, NeedATokenizer) {
  write("generation_config.json");
  EXPECT_EQ(tokenizerBeside(from), "");
  copyTokenizer(from, to);
  EXPECT_TRUE(fs::is_empty(to));
}

} // namespace
