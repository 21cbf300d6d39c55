// Exclusive access to a run's directory: two concurrent runs would overwrite each other's
// checkpoints and rows.
#pragma once

#include <string>

namespace titan::rt {

class DirectoryLock {
public:
  /// Refuses a directory that a live process has locked. The system releases the lock when its
  /// process ends in any way.
  explicit DirectoryLock(const std::string &directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock &) = delete;
  DirectoryLock &operator=(const DirectoryLock &) = delete;

private:
  int file = -1;
};

} // namespace titan::rt
