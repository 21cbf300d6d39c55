// Replacement and reading of files, next to links, devices and other writers.
#include "base/files/DurableFile.h"
#include "base/Error.h"
#include "files/ReadFile.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;
using namespace titan;
using namespace titan::rt;

namespace {

class DurableFile : public testing::Test {
protected:
  DurableFile()
      : folder(fs::temp_directory_path() / ("titan-durable-" + std::to_string(getpid()))) {
    fs::create_directories(folder);
  }
  ~DurableFile() override { fs::remove_all(folder); }
  std::string path(const char *name) const { return (folder / name).string(); }
  std::string read(const char *name) const {
    std::stringstream text;
    text << std::ifstream(folder / name).rdbuf();
    return text.str();
  }
  fs::path folder;
};

void expectRefused(const std::function<void()> &body, const std::string &words) {
  try {
    body();
    ADD_FAILURE() << "accepted; expected: " << words;
  } catch (const UserError &error) {
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

// The content is complete or the old one, without leftovers.
TEST_F(DurableFile, Replaces) {
  writeFileAtomically(path("file"), "one");
  writeFileAtomically(path("file"), "two", Sync::No);
  EXPECT_EQ(read("file"), "two");
  {
    PendingFile abandoned(path("file"));
    abandoned.append("thr");
  }
  EXPECT_EQ(read("file"), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
}

// A temporary that is a link to a foreign file is removed, not followed.
TEST_F(DurableFile, FollowsNoPlantedLink) {
  std::ofstream(path("precious")) << "precious";
  fs::create_symlink(path("precious"), path("file.partial"));
  writeFileAtomically(path("file"), "new");
  EXPECT_EQ(read("precious"), "precious");
  EXPECT_EQ(read("file"), "new");
  EXPECT_FALSE(fs::is_symlink(path("file")));
  // A target that is a link is itself replaced.
  fs::create_symlink(path("precious"), path("link"));
  writeFileAtomically(path("link"), "new");
  EXPECT_EQ(read("precious"), "precious");
  EXPECT_FALSE(fs::is_symlink(path("link")));
  // Joining a temporary does not follow a link either.
  fs::create_symlink(path("precious"), path("joined.partial"));
  expectRefused([&] { PendingFile(path("joined"), PendingFile::Role::Join); }, "symbolic links");
}

// Special files stay unchanged; /dev/null discards content.
TEST_F(DurableFile, ReplacesNoDevice) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0644), 0);
  fs::create_symlink("pipe", path("to-pipe"));
  fs::create_symlink("/dev/null", path("to-null"));
  fs::create_directory(path("directory"));
  for (const char *name : {"pipe", "to-pipe"})
    expectRefused([&] { writeFileAtomically(path(name), "x"); },
                  "it is a pipe, not a regular file");
  expectRefused([&] { writeFileAtomically(path("directory"), "x"); }, "it is a folder");
  expectRefused([&] { writeFileAtomically("/dev/full", "x"); }, "'/dev/full': it is a character");
  for (const char *name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})
    expectRefused([&] { writeFileAtomically(name, "x"); }, name);
  for (const std::string &name : {std::string("/dev/null"), path("to-null")})
    writeFileAtomically(name, "x");
  struct stat status;
  ASSERT_EQ(::lstat("/dev/null", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
  EXPECT_TRUE(fs::is_symlink(path("to-null")));
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
  EXPECT_FALSE(fs::exists(path("pipe.partial")));
}

// Of two writers of one file, the first completes and the second is refused.
TEST_F(DurableFile, TwoWriters) {
  PendingFile first(path("file"));
  first.append("first");
  EXPECT_THROW(PendingFile(path("file")), Fault);
  first.rename();
  EXPECT_EQ(read("file"), "first");
  writeFileAtomically(path("file"), "second"); // while the first still has its descriptor
  EXPECT_EQ(read("file"), "second");
}

// A second writer waits a moment for the first.
TEST_F(DurableFile, WritersTakeTurns) {
  std::vector<std::thread> writers;
  const std::string names = "abcdefgh";
  for (char name : names)
    writers.emplace_back([&, name] {
      for (int i = 0; i < 20; ++i)
        writeFileAtomically(path("file"), std::string(10'000, name), Sync::No);
    });
  for (std::thread &writer : writers)
    writer.join();
  EXPECT_EQ(read("file"), std::string(10'000, read("file")[0]));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
}

// The temporary of a killed writer is replaced.
TEST_F(DurableFile, ReplacesLeftovers) {
  std::ofstream(path("file.partial")) << "of a killed process";
  writeFileAtomically(path("file"), "new");
  EXPECT_EQ(read("file"), "new");
  EXPECT_FALSE(fs::exists(path("file.partial")));
}

TEST_F(DurableFile, Copies) {
  const std::string content(3'000'000, 'x');
  std::ofstream(path("from")) << content;
  std::ofstream(path("precious")) << "precious";
  fs::create_symlink("precious", path("to"));
  copyFileAtomically(path("from"), path("to"));
  EXPECT_EQ(read("to"), content);
  EXPECT_EQ(read("precious"), "precious");
  expectRefused([&] { copyFileAtomically(path("none"), path("to")); }, "cannot read");
  EXPECT_EQ(read("to"), content);
}

TEST_F(DurableFile, ReplacesInHandlers) {
  std::ofstream(path("precious")) << "precious";
  fs::create_symlink("precious", path("file"));
  fs::create_symlink("precious", path("other"));
  EXPECT_TRUE(replaceFileInHandler(path("file").c_str(), path("other").c_str(), "new", false));
  EXPECT_EQ(read("file"), "new");
  EXPECT_EQ(read("precious"), "precious");
}

TEST_F(DurableFile, CreatesDirectories) {
  createDirectories(folder / "a" / "b" / "");
  createDirectories(folder / "a" / "b");
  EXPECT_TRUE(fs::is_directory(folder / "a/b"));
  std::ofstream(path("file")) << "x";
  fs::create_symlink("nowhere", path("dangling"));
  for (const char *name : {"file", "file/below", "dangling", "dangling/below"})
    EXPECT_THROW(createDirectories(folder / name), UserError) << name;
  EXPECT_FALSE(fs::exists(path("nowhere")));
}

// Unreadable files are errors with a reason, and never block.
TEST_F(DurableFile, ReadsRegularFilesAlone) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0644), 0);
  fs::create_symlink("loop", path("loop"));
  std::ofstream(path("file")) << "content";
  EXPECT_EQ(readWholeFile(path("file"), 7), "content");
  expectRefused([&] { readWholeFile(path("file"), 6); }, "more than 6 bytes");
  expectRefused([&] { readWholeFile(path("pipe"), 100); }, "it is not a regular file");
  expectRefused([&] { readWholeFile("/dev/zero", 100); }, "it is not a regular file");
  expectRefused([&] { readWholeFile(folder, 100); }, "Is a directory");
  expectRefused([&] { readWholeFile(path("none"), 100); }, "No such file");
  expectRefused([&] { readWholeFile(path("loop"), 100); }, "symbolic links");
  // As with a bad sector, reading fails where a mapping would end the process.
  expectRefused([&] { readWholeFile("/proc/self/mem", 100); }, "Input/output error");
}

} // namespace
