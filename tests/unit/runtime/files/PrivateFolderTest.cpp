// Folders of a cache, made by this user or planted by another.
#include "files/PrivateFolder.h"

#include "base/Error.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace fs = std::filesystem;
using namespace titan;
using namespace titan::rt;

namespace {

class PrivateFolder : public testing::Test {
protected:
  PrivateFolder() : root(fs::temp_directory_path() / name()) { fs::create_directories(root); }
  ~PrivateFolder() override { fs::remove_all(root); }

  static std::string name() { return "titan-private-" + std::to_string(::getpid()); }

  static mode_t mode(const fs::path &path) {
    struct stat status = {};
    ::stat(path.c_str(), &status);
    return status.st_mode & 07777;
  }

  /// The reason why the folder is refused.
  static std::string refusal(const fs::path &path) {
    try {
      makePrivateFolder(path);
      return "";
    } catch (const UserError &error) {
      return error.what();
    }
  }

  fs::path root;
};

TEST_F(PrivateFolder, IsMadeForThisUserAlone) {
  makePrivateFolder(root / "above" / "cache");
  EXPECT_EQ(mode(root / "above" / "cache"), 0700u);
  makePrivateFolder(root / "above" / "cache");
}

TEST_F(PrivateFolder, TakesThePermissionToWriteFromOthers) {
  fs::create_directory(root / "open");
  ::chmod((root / "open").c_str(), 0777);
  makePrivateFolder(root / "open");
  EXPECT_EQ(mode(root / "open"), 0755u);
}

TEST_F(PrivateFolder, RefusesLinksAndFiles) {
  fs::create_directory(root / "target");
  fs::create_directory_symlink(root / "target", root / "link");
  std::ofstream(root / "file") << "x";
  EXPECT_NE(refusal(root / "link").find("it is a link"), std::string::npos);
  EXPECT_NE(refusal(root / "file").find("no folder"), std::string::npos);
}

TEST_F(PrivateFolder, RefusesThoseOfAnotherUser) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "only an administrator can give a folder away";
  fs::create_directory(root / "foreign");
  ASSERT_EQ(::chown((root / "foreign").c_str(), 1234, 1234), 0);
  EXPECT_NE(refusal(root / "foreign").find("it belongs to user 1234, not to 0"), std::string::npos);
}

} // namespace
