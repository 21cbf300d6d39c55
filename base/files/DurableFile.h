// Durable files and folders: they survive power failures and system crashes, as far as the disk
// keeps synced data. Content is written to a temporary file in the same folder, which is synced and
// renamed; then the folder is synced. At every moment, the target has either its old or its new
// content.
//
// No function follows links, which others may have created: a temporary is a new file, or an empty
// one of the same user, and a target that is a device, pipe, socket or folder is refused. Only
// /dev/null is written directly.
//
// A temporary belongs to one writer, which locks it: a second writer of the same target is refused,
// and one that was killed leaves a temporary that the next writer replaces.
//
// Every file that a program or titanc writes is created here; tests/reliability/writers.py looks
// for others.
//
// Errors name the file: Fault if the disk is full or fails, otherwise UserError.
#pragma once

#include "base/Error.h"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <system_error>

namespace titan {

/// The suffix of temporaries.
constexpr const char *temporarySuffix = ".partial";

enum class Sync {
  No,      ///< atomic for readers only: for frequent content that is worthless after a crash
  Content, ///< the caller syncs the folder, once for several files
  All
};

/// Permissions of a new file, which the umask restricts.
constexpr mode_t dataPermissions = 0644;

/// Writes a complete file. A reader sees the old content or the new content, never a prefix.
void writeFileAtomically(const std::string &path, std::string_view content, Sync sync = Sync::All);

/// Copies the content of a regular file, likewise.
void copyFileAtomically(const std::string &from, const std::string &to, Sync sync = Sync::All);

/// Creates a file that does not exist, to be extended while a run lasts. Returns its descriptor, or
/// -1 with errno.
int createNewFile(const std::string &path);

/// Opens a file to be locked, and creates it if it is absent. Returns its descriptor, or -1 with
/// errno.
int openLockFile(const std::string &path);

/// For signal handlers, with system calls only: replaces `path` by a rename of `partial`, after a
/// sync if `isDurable`. On a full disk, overwrites the old content. False after an error.
bool replaceFileInHandler(const char *path, const char *partial, std::string_view content,
                          bool isDurable);

/// Refuses a path that no file can replace: a device, pipe, socket, folder, a link to one of them,
/// or the name of an open file (/dev/stdout, /proc/self/fd/1).
void checkTarget(const std::string &path);

/// Makes creations, renames and removals in a folder durable.
void syncDirectory(const std::filesystem::path &directory);

/// Syncs the folder of a file, except for /dev/null.
void syncParent(const std::string &path);

/// Creates a folder and its missing parents durably.
void createDirectories(const std::filesystem::path &directory);

/// Syncs a stream to the disk. A stream that is not a file needs no sync.
void syncStream(std::FILE *stream, const std::string &path);

/// What failToWrite throws: a UserError or a Fault with the reason apart.
template <typename Base> class WriteError : public Base {
public:
  WriteError(const std::string &message, int error)
      : Base(message), reason(error, std::generic_category()) {}

  const std::error_code reason;
};

/// "cannot write 'PATH': REASON" by errno, with the appropriate exception class.
[[noreturn]] void failToWrite(const std::string &path, int error);

/// Runs `body` and converts UserError to Fault: during a run, a failed write is a fault.
template <typename Body> auto asFault(Body body) {
  try {
    return body();
  } catch (const UserError &error) {
    throw Fault(error.what());
  }
}

/// The temporary of one target. One process creates it; others can join it to write other ranges.
class PendingFile {
public:
  enum class Role { Create, Join };
  explicit PendingFile(std::string target, Role role = Role::Create,
                       mode_t permissions = dataPermissions);
  /// Removes the temporary that this process created, unless it was renamed.
  ~PendingFile();
  PendingFile(const PendingFile &) = delete;
  PendingFile &operator=(const PendingFile &) = delete;

  /// Sets the size; unwritten ranges read as zeros.
  void resize(int64_t bytes);
  /// Writes after the content of previous `append` calls.
  void append(std::string_view content);
  void writeAt(int64_t offset, const void *data, size_t size);

  /// Sets the permissions, whatever the umask is.
  void setPermissions(mode_t permissions);

  /// Syncs the content to the disk.
  void sync();
  /// Replaces the target. Call `sync` before, and `syncDirectory` after.
  void rename();
  /// Returns the descriptor, which the caller closes. Only after `rename`.
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
