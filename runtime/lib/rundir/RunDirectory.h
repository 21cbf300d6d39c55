// The directory that a run writes: made and locked by rank 0 before the first step, and removed
// again where the run cannot begin.
#pragma once

#include "DirectoryLock.h"
#include "state/Executor.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace titan::rt {

class RunDirectory {
public:
  RunDirectory(Executor &executor, std::string path) : executor(executor), name(std::move(path)) {}

  const std::string &path() const { return name; }
  /// DIRECTORY/name.
  std::string file(const char *name) const;

  /// Makes the directory, locks it, and removes what a run that ended while it saved has left. All
  /// ranks call it.
  void open();
  /// Removes what open() has made: no run begins here.
  void removeNew();

private:
  Executor &executor;
  std::string name;
  std::optional<DirectoryLock> lock;             // of rank 0
  std::vector<std::filesystem::path> newFolders; // which rank 0 has made, the innermost first
};

} // namespace titan::rt
