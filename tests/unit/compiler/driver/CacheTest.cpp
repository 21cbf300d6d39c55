// The cache of compiled programs: trust in its folder, damaged entries, concurrent builds,
// eviction.
#include "compiler/driver/Cache.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <gmock/gmock.h>

#include <atomic>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace titan::driver {
namespace {

namespace fs = std::filesystem;

constexpr const char *kKey = "0123456789abcdef";

class CacheTest : public testing::Test {
protected:
  CacheTest() {
    base = fs::temp_directory_path() / ("titan-cache-" + std::to_string(getpid()));
    fs::remove_all(base);
    fs::create_directories(base);
    setenv("XDG_CACHE_HOME", base.c_str(), 1);
  }
  ~CacheTest() override { fs::remove_all(base); }

  std::optional<Cache> open() {
    DiagnosticEngine diags(sources);
    std::optional<Cache> cache = Cache::open(diags);
    message = diags.all().empty() ? "" : diags.all()[0].message + " / " + diags.all()[0].remedy;
    return cache;
  }

  static void write(const fs::path &file, const std::string &content) {
    std::ofstream(file) << content;
    fs::permissions(file, fs::perms::owner_all);
  }

  /// Publishes a program and its source in the entry of `key`, as titanc does.
  static void build(const Cache &cache, const std::string &key = kKey) {
    CacheEntry entry(cache, key, [] {});
    fs::path folder = entry.makeBuildFolder();
    write(folder / "program", "#!/bin/sh\necho trained\n");
    write(folder / "program.cpp", "int main() {}\n");
    EXPECT_FALSE(entry.publish("program", ".cpp"));
  }

  fs::path inEntry(const char *name) { return base / "titan" / kKey / name; }

  fs::path base;
  SourceManager sources;
  std::string message;
};

TEST_F(CacheTest, Directory) {
  EXPECT_EQ(Cache::directory(), base / "titan");
  setenv("XDG_CACHE_HOME", "relative", 1);
  setenv("HOME", "/somewhere", 1);
  EXPECT_EQ(Cache::directory(), "/somewhere/.cache/titan");
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(Cache::directory(), "/somewhere/.cache/titan");
}

// titanc executes programs from the folder, so only the user may write to it.
TEST_F(CacheTest, Trust) {
  ASSERT_TRUE(open());
  struct stat status;
  ASSERT_EQ(lstat((base / "titan").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  chmod((base / "titan").c_str(), 0777);
  EXPECT_FALSE(open());
  EXPECT_THAT(message, testing::HasSubstr("other users may write to it"));
  EXPECT_THAT(message, testing::HasSubstr("XDG_CACHE_HOME"));
  fs::remove_all(base / "titan");
  fs::create_directory(base / "elsewhere");
  fs::create_directory_symlink(base / "elsewhere", base / "titan");
  EXPECT_FALSE(open());
  EXPECT_THAT(message, testing::HasSubstr("it is a link"));
  fs::remove(base / "titan");
  write(base / "titan", "");
  EXPECT_FALSE(open());
  if (getuid() == 0) {
    fs::remove(base / "titan");
    fs::create_directory(base / "titan");
    ASSERT_EQ(chown((base / "titan").c_str(), 4321, 4321), 0);
    EXPECT_FALSE(open());
    EXPECT_THAT(message, testing::HasSubstr("it belongs to user 4321"));
  }
}

TEST_F(CacheTest, FindsPublishedPrograms) {
  std::optional<Cache> cache = open();
  EXPECT_EQ(findCached(*cache, kKey, "program"), "");
  build(*cache);
  EXPECT_EQ(findCached(*cache, kKey, "program"), inEntry("program"));
  EXPECT_EQ(findCached(*cache, kKey, "other"), "");
  std::vector<Cache::Entry> entries = cache->entries();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].name, "program");
  EXPECT_EQ(std::distance(fs::directory_iterator(base / "titan" / kKey), {}), 3);
}

// A power cut, a full disk or another process may damage published files. Damaged files are not
// found.
TEST_F(CacheTest, Damage) {
  std::optional<Cache> cache = open();
  auto isFound = [&] { return !findCached(*cache, kKey, "program").empty(); };
  auto damage = [&](const std::function<void()> &change) {
    build(*cache);
    EXPECT_TRUE(isFound());
    change();
    EXPECT_FALSE(isFound());
  };
  damage([&] { fs::resize_file(inEntry("program"), 0); });
  damage([&] { fs::resize_file(inEntry("program"), 10); });
  damage([&] { write(inEntry("program"), "#!/bin/sh\necho poisoned"); });
  damage([&] { fs::permissions(inEntry("program"), fs::perms::owner_read); });
  damage([&] { fs::remove(inEntry("program.sum")); });
  damage([&] { fs::resize_file(inEntry("program.sum"), 5); });
  damage([&] {
    fs::remove(inEntry("program"));
    mkfifo(inEntry("program").c_str(), 0700);
  });
  damage([&] {
    fs::remove(inEntry("program"));
    fs::create_symlink("/bin/sh", inEntry("program"));
  });
  build(*cache);
  EXPECT_TRUE(isFound());
}

// One process builds; the others wait and find its program. A build removes the folders of killed
// builds.
TEST_F(CacheTest, OneProcessBuilds) {
  std::optional<Cache> cache = open();
  std::atomic<bool> isWaiting = false;
  std::thread other;
  {
    CacheEntry first(*cache, kKey, [] {});
    fs::create_directories(inEntry("building-killed/inner"));
    fs::path folder = first.makeBuildFolder();
    EXPECT_FALSE(fs::exists(inEntry("building-killed")));
    other = std::thread([&] {
      CacheEntry second(*cache, kKey, [&] { isWaiting = true; });
      EXPECT_NE(findCached(*cache, kKey, "program"), "");
    });
    while (!isWaiting)
      std::this_thread::yield();
    EXPECT_FALSE(Cache::remove(cache->entries()[0]));
    write(folder / "program", "new");
    write(folder / "program.cpp", "");
    EXPECT_FALSE(first.publish("program", ".cpp"));
  }
  other.join();
  EXPECT_TRUE(Cache::remove(cache->entries()[0]));
  EXPECT_FALSE(fs::exists(base / "titan" / kKey));
}

// Programs are removed by age and by total size; files that are no entries remain.
TEST_F(CacheTest, Eviction) {
  std::optional<Cache> cache = open();
  const std::string newer = "fedcba9876543210";
  build(*cache);
  build(*cache, newer);
  write(base / "titan" / "notes.txt", "a file of the user's");
  timespec old[2] = {{time(nullptr) - 40 * 86400, 0}, {time(nullptr) - 40 * 86400, 0}};
  for (const auto &file : fs::directory_iterator(base / "titan" / kKey))
    utimensat(AT_FDCWD, file.path().c_str(), old, 0);
  utimensat(AT_FDCWD, (base / "titan" / kKey).c_str(), old, 0);
  const auto now = std::chrono::system_clock::now();
  cache->evict(now, 50);
  EXPECT_EQ(cache->entries().size(), 2u);
  EXPECT_NE(findCached(*cache, kKey, "program"), ""); // which marks the program as used
  cache->evict(now);
  EXPECT_EQ(cache->entries().size(), 2u);
  utimensat(AT_FDCWD, inEntry("program.sum").c_str(), old, 0);
  cache->evict(now);
  EXPECT_EQ(findCached(*cache, kKey, "program"), "");
  EXPECT_NE(findCached(*cache, newer, "program"), "");
  cache->evict(now, 30, /*most=*/10);
  EXPECT_TRUE(cache->entries().empty());
  EXPECT_TRUE(fs::exists(base / "titan" / "notes.txt"));
}

} // namespace
} // namespace titan::driver
