// Locates the cache directory and checks that it is trustworthy.
#include "compiler/driver/Cache.h"
#include "compiler/driver/Output.h"
#include "compiler/driver/Paths.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"

#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

namespace titan::driver {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

std::string Cache::directory() {
  // The XDG specification requires an absolute path and ignores others.
  if (auto cache = llvm::sys::Process::GetEnv("XDG_CACHE_HOME"); cache && path::is_absolute(*cache))
    return driver::join(*cache, "titan");
  llvm::SmallString<256> home;
  if (path::home_directory(home) && path::is_absolute(home))
    return driver::join(home, ".cache/titan");
  return "/tmp/titan-" + std::to_string(::getuid());
}

/// The reason why a directory is not exclusively this user's; empty if it is.
static std::string findFault(const std::string &folder) {
  struct stat status;
  if (::lstat(folder.c_str(), &status) != 0)
    return std::error_code(errno, std::generic_category()).message();
  if (S_ISLNK(status.st_mode))
    return "it is a link";
  if (!S_ISDIR(status.st_mode))
    return "it is not a folder";
  if (status.st_uid != ::getuid())
    return "it belongs to user " + std::to_string(status.st_uid) + ", not to " +
           std::to_string(::getuid());
  if (status.st_mode & (S_IWGRP | S_IWOTH))
    return "other users may write to it";
  return "";
}

std::optional<Cache> Cache::open(DiagnosticEngine &diags) {
  std::string folder = directory();
  const char *const help = "titanc compiles programs there; set XDG_CACHE_HOME to another folder";
  std::error_code error = fs::create_directories(path::parent_path(folder));
  if (!error)
    error = fs::create_directory(folder, /*IgnoreExisting=*/true, fs::owner_all);
  if (error) {
    reportWriteError(diags, folder, error).help(help);
    return std::nullopt;
  }
  if (std::string fault = findFault(folder); !fault.empty()) {
    diags
        .report(Code::CannotWriteFile, {},
                "programs cannot be cached in `" + folder + "`: " + fault)
        .help(help);
    return std::nullopt;
  }
  return Cache(std::move(folder));
}

} // namespace titan::driver
