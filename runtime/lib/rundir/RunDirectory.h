// The directory that a run writes. Rank 0 creates and locks it before the first step, and removes
// it if the run cannot start.
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

  /// Creates and locks the directory, and removes partial checkpoints of an interrupted run.
  /// Collective.
  void open();
  /// Removes the directories that open() created, because no run starts here.
  void removeNew();

private:
  Executor &executor;
  std::string name;
  std::optional<DirectoryLock> lock;             // of rank 0
  std::vector<std::filesystem::path> newFolders; // created by rank 0, innermost first
};

} // namespace titan::rt
