#include "RunDirectory.h"

#include "Archive.h"
#include "state/TensorFiles.h"

namespace titan::rt {

namespace fs = std::filesystem;

std::string RunDirectory::file(const char *name) const {
  return (fs::path(path()) / name).string();
}

void RunDirectory::open() {
  executor.world().runCollectively([&] {
    if (!executor.isFirst())
      return;
    std::error_code ignored;
    for (fs::path folder = fs::absolute(name); !fs::exists(folder, ignored);
         folder = folder.parent_path())
      newFolders.push_back(folder);
    makeDirectory(name, "the run's directory");
    lock.emplace(name);
    removeUnfinishedCheckpoints(name); // they may fill the disk
  });
}

void RunDirectory::removeNew() {
  std::error_code ignored; // a folder with other content stays
  if (!newFolders.empty() && lock)
    lock->removeFile();
  lock.reset();
  for (const fs::path &folder : newFolders)
    fs::remove(folder, ignored);
}

} // namespace titan::rt
