// Files of a tokenizer that an export copies.
#include "weights/TokenizerFiles.h"

#include "base/Error.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
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

// A copy replaces a planted link, not what the link leads to.
TEST_F(TokenizerFiles, ReplaceLinks) {
  write("tokenizer.json");
  std::ofstream(root / "precious") << "precious";
  fs::create_symlink(root / "precious", to / "tokenizer.json");
  copyTokenizer(from, to);
  EXPECT_FALSE(fs::is_symlink(to / "tokenizer.json"));
  EXPECT_EQ(fs::file_size(root / "precious"), 8u);
}

TEST_F(TokenizerFiles, OfARunStay) {
  for (const char *name : {"tokenizer.json", "tokenizer_config.json"})
    write(name);
  std::ofstream(to / "tokenizer.json") << "own";
  std::ofstream(to / "tokenizer_config.json") << ""; // lost in a power failure
  copyTokenizer(from, to, Existing::Keep);
  EXPECT_EQ(fs::file_size(to / "tokenizer.json"), 3u);
  EXPECT_EQ(fs::file_size(to / "tokenizer_config.json"), 21u);
  std::ofstream(to / "tokenizer.model") << "of an earlier run";
  replaceTokenizer(from, to);
  EXPECT_EQ(fs::file_size(to / "tokenizer.json"), 14u);
  EXPECT_FALSE(fs::exists(to / "tokenizer.model"));
  replaceTokenizer("", to);
  EXPECT_TRUE(fs::exists(to / "tokenizer.json"));
}

// A link may lead to any file, which a copy would publish.
TEST_F(TokenizerFiles, HaveTheContentOfTokenizers) {
  auto refusal = [&](const char *name, const std::string &content) -> std::string {
    std::ofstream(from / "tokenizer.json") << "{}";
    std::ofstream(from / name) << content;
    std::string text;
    try {
      checkTokenizer(from);
    } catch (const titan::UserError &error) {
      text = error.what();
    }
    fs::remove(from / name);
    return text;
  };
  const std::string foreign = "root:x:0:0:root:/root:/bin/sh\n";
  for (const char *name : {"tokenizer.json", "tokenizer_config.json", "vocab.json", "merges.txt",
                           "chat_template.jinja", "tokenizer.model"}) {
    EXPECT_NE(refusal(name, foreign).find(name), std::string::npos) << name;
    EXPECT_NE(refusal(name, foreign).find("is no file of a tokenizer"), std::string::npos) << name;
  }
  EXPECT_EQ(refusal("vocab.json", R"({"a": 1})"), "");
  EXPECT_EQ(refusal("merges.txt", "#version: 0.2\na b\n\xc4\xa0 t\r\n"), "");
  EXPECT_EQ(refusal("chat_template.jinja", "{{ messages }}"), "");
  EXPECT_EQ(refusal("tokenizer.model", "IQ== 0\nIg== 1\n"), "");
  EXPECT_NE(refusal("tokenizer.model", "a secret\n"), "");
  // A piece "ab" with a score, and the trainer's options.
  EXPECT_EQ(refusal("tokenizer.model", std::string("\x0a\x09\x0a\x02"
                                                   "ab\x15\0\0\0\0\x12\x00",
                                                   13)),
            "");
  EXPECT_NE(refusal("tokenizer.model", "\x0a\x7f"
                                       "ab"),
            "");
}

TEST_F(TokenizerFiles, AreRegular) {
  ASSERT_EQ(::mkfifo((from / "tokenizer.json").c_str(), 0644), 0);
  EXPECT_EQ(tokenizerBeside(from), from);
  EXPECT_THROW(checkTokenizer(from), titan::UserError);
}

} // namespace
