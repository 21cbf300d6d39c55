// A run's directory has one run: two at once would take each other's checkpoints and rows.
#pragma once

#include <string>

namespace titan::rt {

class DirectoryLock {
public:
  /// Refuses a directory that a process which still lives has locked. The system unlocks what a
  /// process held when it ends, however it ends.
  explicit DirectoryLock(const std::string &directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock &) = delete;
  DirectoryLock &operator=(const DirectoryLock &) = delete;

private:
  int file = -1;
};

} // namespace titan::rt
