// Files and folders that survive a loss of power or a crash of the system, as far as the disk keeps
// what it acknowledged: content is written to a temporary beside the target, synced and renamed,
// and the folder is synced. The target has its old content or the new one at every moment.
//
// Nothing is written through what somebody else may have put into the folder: a temporary is always
// created anew (O_EXCL, O_NOFOLLOW), and a target that is a device, a pipe, a socket or a folder is
// refused. Only /dev/null is written to, as it is.
//
// Errors name the file: a Fault where the disk is full or fails, a UserError otherwise.
#pragma once

#include "base/Error.h"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

namespace titan {

/// The end of the temporaries' names.
constexpr const char *temporarySuffix = ".partial";

enum class Sync {
  No,      ///< atomic for readers alone: what is written often and is worth nothing after a crash
  Content, ///< the caller syncs the folder, once for several files
  All
};

/// Writes a whole file. A reader sees the old content or the new one, never a prefix.
void writeFileAtomically(const std::string &path, std::string_view content, Sync sync = Sync::All);

/// Refuses a path that no file can be written to: a device, a pipe, a socket, a folder, a link to
/// one of them or a name of an open file (/dev/stdout, /proc/self/fd/1).
void checkTarget(const std::string &path);

/// Makes the names in a folder durable: of files that were made, renamed or removed.
void syncDirectory(const std::filesystem::path &directory);

/// Of the folder that a file is in. That of /dev/null needs none.
void syncParent(const std::string &path);

/// Creates a folder and its missing parents; each new name is durable.
void createDirectories(const std::filesystem::path &directory);

/// What was written to a stream is on the disk. A stream that is no file has nothing to sync.
void syncStream(std::FILE *stream, const std::string &path);

/// "cannot write 'PATH': REASON" by errno, as the class of exception that fits.
[[noreturn]] void failToWrite(const std::string &path, int error);

/// What a run writes on its way: it cannot go on, whoever is to act on it.
template <typename Body> auto asFault(Body body) {
  try {
    return body();
  } catch (const UserError &error) {
    throw Fault(error.what());
  }
}

/// The temporary of one target. One process creates it; others can join it to write a part.
class PendingFile {
public:
  enum class Role { Create, Join };
  explicit PendingFile(std::string target, Role role = Role::Create);
  /// Removes the temporary that this process created, unless it was renamed.
  ~PendingFile();
  PendingFile(const PendingFile &) = delete;
  PendingFile &operator=(const PendingFile &) = delete;

  /// Gives the file this size; what was not written reads as zeros.
  void resize(int64_t bytes);
  /// At the end of what `append` has written.
  void append(std::string_view content);
  void writeAt(int64_t offset, const void *data, size_t size);

  /// What was written is on the disk.
  void sync();
  /// The target is this file from here on. `sync` comes before it, `syncDirectory` behind it.
  void rename();
  /// The descriptor, which the caller closes. Only after `rename`.
  int release();

private:
  std::string target, temporary;
  Role role;
  bool discards; // the target is /dev/null
  bool renamed = false;
  int file = -1;
  int64_t end = 0;
};

} // namespace titan
