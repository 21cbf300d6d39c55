// Exclusive access to the directory of a run or of an export: two concurrent writers would
// overwrite each other's files.
#pragma once

#include <string>

namespace titan::rt {

class DirectoryLock {
public:
  /// The words of a refusal.
  struct Owner {
    const char *kind;   ///< "run"
    const char *option; ///< "--out DIR"
  };
  static constexpr Owner run{"run", "--out DIR"};

  /// Refuses a directory that a live process has locked. The system releases the lock when its
  /// process ends in any way.
  explicit DirectoryLock(const std::string &directory, Owner owner = run);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock &) = delete;
  DirectoryLock &operator=(const DirectoryLock &) = delete;

  /// Removes the file of the lock, which stays held.
  void removeFile();

private:
  std::string path;
  int file = -1;
};

} // namespace titan::rt
