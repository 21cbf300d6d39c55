#include "RunDirectory.h"

#include "Checkpoint.h"
#include "TensorFiles.h"

#include "titan/runtime/error.h"

#include <unistd.h>

#include <fmt/format.h>

namespace titan::rt {

namespace fs = std::filesystem;

std::string RunDirectory::file(const char *name) const {
  return (fs::path(path()) / name).string();
}

bool RunDirectory::contains(const fs::path &folder) const {
  return fs::weakly_canonical(folder) == fs::weakly_canonical(name);
}

void RunDirectory::check(std::span<const std::string> outputs) {
  session.world().together([&] {
    for (const std::string &output : outputs)
      if (fs::path folder = fs::path(output).parent_path();
          !folder.empty() && !fs::is_directory(folder) && !contains(folder))
        throw UserError(
            fmt::format("cannot write '{}': there is no directory '{}'", output, folder.string()));
    if (!session.isFirst())
      return;
    std::error_code ignored;
    fs::path there = fs::absolute(name);
    while (!fs::exists(there, ignored) && there.has_relative_path())
      there = there.parent_path();
    if (!fs::is_directory(there, ignored) || ::access(there.c_str(), W_OK) != 0)
      throw UserError(
          fmt::format("cannot make the run's directory '{}': '{}' is {}", name, there.string(),
                      fs::is_directory(there, ignored) ? "not to be written to" : "no directory"));
  });
}

void RunDirectory::open() {
  session.world().together([&] {
    if (!session.isFirst())
      return;
    std::error_code ignored;
    for (fs::path folder = fs::absolute(name); !fs::exists(folder, ignored);
         folder = folder.parent_path())
      newFolders.push_back(folder);
    makeDirectory(name, "the run's directory");
    lock.emplace(name);
    removeUnfinishedCheckpoints(name); // they may be what fills the disk
  });
}

void RunDirectory::removeNew() {
  std::error_code ignored; // a folder that somebody has put something into stays
  if (!newFolders.empty())
    fs::remove(file(".lock"), ignored); // while it is ours
  lock.reset();
  for (const fs::path &folder : newFolders)
    fs::remove(folder, ignored);
}

} // namespace titan::rt
