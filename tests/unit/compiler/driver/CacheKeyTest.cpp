// Which changes of source, tools, flags and processor change the key of a compiled program.
#include "compiler/driver/CacheKey.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace titan::driver {
namespace {

class CacheKey : public testing::Test {
protected:
  CacheKey() {
    folder = std::filesystem::temp_directory_path() / ("titan-key-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    for (std::string *tool : {&toolchain.compiler, &toolchain.linker}) {
      *tool = (folder / (tool == &toolchain.linker ? "linker" : "compiler")).string();
      std::ofstream(*tool) << "#!/bin/sh\n";
      std::filesystem::permissions(*tool, std::filesystem::perms::owner_all);
    }
    toolchain.compile = {"-O3", "-march=native"};
  }
  ~CacheKey() override { std::filesystem::remove_all(folder); }

  std::string key(const char *processor = "znver4:avx512f") const {
    return computeCacheKey("int main() {}", toolchain, processor);
  }

  std::filesystem::path folder;
  Toolchain toolchain;
};

// The same source for the same machine by the same tools is the same program.
TEST_F(CacheKey, IsRepeated) {
  EXPECT_EQ(key(), key());
  EXPECT_NE(key(), computeCacheKey("int main() { return 1; }", toolchain, "znver4:avx512f"));
}

// A program is compiled for its processor and the features that are enabled, unless flags name the
// processor.
TEST_F(CacheKey, Processor) {
  EXPECT_NE(key(), key("skylake:avx512f"));
  EXPECT_NE(key(), key("znver4:"));
  toolchain.compile = {"-O3", "-march=x86-64-v3"};
  EXPECT_EQ(key(), key("skylake:avx512f"));
}

// After an update of a compiler, programs are compiled again.
TEST_F(CacheKey, Compilers) {
  for (const std::string &tool : {toolchain.compiler, toolchain.linker}) {
    const std::string before = key();
    std::ofstream(tool, std::ios::app) << "exit 0\n";
    const std::string grown = key();
    EXPECT_NE(grown, before);
    std::filesystem::last_write_time(tool, std::filesystem::file_time_type::clock::now() +
                                               std::chrono::hours(1));
    EXPECT_NE(key(), grown);
  }
}

// Words of a command do not run into each other.
TEST_F(CacheKey, Words) {
  toolchain.compile = {"-DA", "B"};
  const std::string before = key();
  toolchain.compile = {"-DAB", ""};
  EXPECT_NE(key(), before);
}

// The description of this machine's processor is repeatable.
TEST_F(CacheKey, ThisProcessor) {
  EXPECT_THAT(describeProcessor(), testing::ContainsRegex("^[a-z0-9_-]+:"));
  EXPECT_EQ(describeProcessor(), describeProcessor());
}

} // namespace
} // namespace titan::driver
