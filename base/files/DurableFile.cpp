#include "base/files/DurableFile.h"

#include "base/files/FileKind.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace titan {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse(const std::string &path, const std::string &what) {
  throw UserError(fmt::format("cannot write '{}': it is {}, not a regular file", path, what));
}

bool isNullDevice(const struct stat &status) {
  return S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3);
}

fs::path getFolder(const std::string &path) {
  fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

/// Links in these folders name open files.
bool isFolderOfStreams(const fs::path &folder) {
  std::error_code unknown;
  const std::string real = fs::canonical(folder, unknown).string();
  return real == "/dev" || real.starts_with("/proc/");
}

/// Whether the target is /dev/null. Refuses targets that a file cannot replace. A link to a regular
/// file, or a dangling link, is itself replaced.
bool discardsContent(const std::string &path) {
  struct stat status;
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT)
      return false;
    failToWrite(path, errno);
  }
  if (S_ISLNK(status.st_mode)) {
    if (isFolderOfStreams(getFolder(path)))
      refuse(path, "the name of an open file");
    if (::stat(path.c_str(), &status) != 0)
      return false;
  }
  if (isNullDevice(status))
    return true;
  if (!S_ISREG(status.st_mode))
    refuse(path, describeKind(status));
  return false;
}

[[noreturn]] void refuseSecondWriter(const std::string &target) {
  throw Fault(fmt::format("cannot write '{}': another process writes to it", target));
}

/// Whether the name is still that of the open file.
bool isStillThere(int file, const std::string &path) {
  struct stat own, there;
  return ::fstat(file, &own) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

enum class Lock { Taken, OfAnotherWriter, Unsupported };

/// Locks an open file without waiting.
Lock lock(int file) {
  if (::flock(file, LOCK_EX | LOCK_NB) == 0)
    return Lock::Taken;
  return errno == EWOULDBLOCK ? Lock::OfAnotherWriter : Lock::Unsupported;
}

void remove(const std::string &path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    failToWrite(path, errno);
}

/// Whether a writer of this user has just created the file. Otherwise a killed process has left
/// the file, or another user has planted it.
bool isFresh(int file) {
  struct stat status;
  return ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0 &&
         status.st_nlink == 1 && status.st_uid == ::geteuid();
}

/// One try to create and lock the temporary: its descriptor, or -1 with errno EEXIST if another
/// writer has it, EAGAIN if a leftover was removed. Only the owner of the lock removes a file, so
/// that no writer removes that of another. Without locks, each writer takes its own new file.
int tryToCreate(const std::string &temporary, mode_t permissions) {
  constexpr int flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  int file = ::open(temporary.c_str(), flags | O_CREAT | O_EXCL, permissions);
  if (file < 0 && errno != EEXIST)
    return file;
  const bool isNew = file >= 0;
  if (!isNew)
    file = ::open(temporary.c_str(), flags);
  if (file < 0) { // a link, a pipe, a folder, or a file that this user may not write
    if (errno != ENOENT)
      remove(temporary);
    errno = EAGAIN;
    return -1;
  }
  const Lock state = lock(file);
  const bool isOurs = isStillThere(file, temporary) && state != Lock::OfAnotherWriter;
  if (isOurs && (isNew || (state == Lock::Taken && isFresh(file))))
    return file;
  if (isOurs)
    remove(temporary);
  ::close(file);
  errno = isOurs ? EAGAIN : EEXIST;
  return -1;
}

/// Creates the temporary of `target` and locks it. Waits a second for other writers, which suffices
/// for small files.
int createAnew(const std::string &temporary, const std::string &target, mode_t permissions) {
  using Clock = std::chrono::steady_clock;
  constexpr useconds_t pause = 1'000;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(1);
  do {
    const int file = tryToCreate(temporary, permissions);
    if (file >= 0 || (errno != EEXIST && errno != EAGAIN))
      return file;
    if (errno == EEXIST)
      ::usleep(pause);
  } while (Clock::now() < end);
  refuseSecondWriter(target);
}

bool writeAll(int file, const char *text, size_t size) {
  while (size > 0) {
    const ssize_t count = ::write(file, text, size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    text += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

/// Calls `use` for the content of a regular file, chunk by chunk. The content may be larger than
/// memory.
template <typename Use> void readChunks(const std::string &path, Use use) {
  constexpr size_t longest = size_t{1} << 20;
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  std::string chunk(longest, '\0');
  ssize_t count = -1;
  if (file >= 0)
    while ((count = ::read(file, chunk.data(), longest)) > 0 || (count < 0 && errno == EINTR))
      if (count > 0)
        use(std::string_view(chunk).substr(0, static_cast<size_t>(count)));
  const int error = count < 0 ? errno : 0;
  if (file >= 0)
    ::close(file);
  if (error != 0)
    throw UserError(fmt::format("cannot read '{}': {}", path, std::strerror(error)));
}

void complete(PendingFile &file, const std::string &path, Sync sync) {
  if (sync != Sync::No)
    file.sync();
  file.rename();
  if (sync == Sync::All)
    syncParent(path);
}

} // namespace

void failToWrite(const std::string &path, int error) {
  std::string message = fmt::format("cannot write '{}': {}", path, std::strerror(error));
  for (int pathError : {EACCES, EPERM, ENOENT, ENOTDIR, EISDIR, ELOOP, EROFS, ENAMETOOLONG, EEXIST})
    if (error == pathError)
      throw WriteError<UserError>(message, error);
  throw WriteError<Fault>(message, error);
}

void checkTarget(const std::string &path) {
  discardsContent(path);
}

void syncDirectory(const fs::path &directory) {
  int file = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0)
    failToWrite(directory.string(), errno);
  int error = ::fsync(file) == 0 ? 0 : errno;
  ::close(file);
  // File systems without this operation persist names by other means.
  if (error != 0 && error != EINVAL && error != ENOTSUP && error != EROFS)
    failToWrite(directory.string(), error);
}

void syncParent(const std::string &path) {
  if (!discardsContent(path))
    syncDirectory(getFolder(path));
}

void syncStream(std::FILE *stream, const std::string &path) {
  bool failed = std::fflush(stream) != 0 || ::fdatasync(::fileno(stream)) != 0;
  if (failed && errno != EINVAL)
    failToWrite(path, errno);
}

void createDirectories(const fs::path &directory) {
  std::vector<fs::path> missing; // innermost first
  struct stat status;
  for (fs::path at = directory; !at.empty() && ::stat(at.c_str(), &status) != 0;
       at = at.parent_path()) {
    if (at.has_filename()) // not "a/"
      missing.push_back(at);
    if (!at.has_relative_path())
      break;
  }
  for (; !missing.empty(); missing.pop_back()) {
    const fs::path &folder = missing.back();
    if (::mkdir(folder.c_str(), 0777) == 0) {
      fs::path parent = getFolder(folder.string());
      if (::access(parent.c_str(), R_OK) == 0) // otherwise it cannot be opened for fsync
        syncDirectory(parent);
    } else if (errno != EEXIST) {
      failToWrite(folder.string(), errno);
    }
  }
  if (::stat(directory.c_str(), &status) != 0)
    failToWrite(directory.string(), errno); // a dangling link
  if (!S_ISDIR(status.st_mode))
    throw UserError(fmt::format("cannot write '{}': it is {}, not a folder", directory.string(),
                                describeKind(status)));
}

void writeFileAtomically(const std::string &path, std::string_view content, Sync sync) {
  PendingFile file(path);
  file.append(content);
  complete(file, path, sync);
}

void copyFileAtomically(const std::string &from, const std::string &to, Sync sync) {
  PendingFile file(to);
  readChunks(from, [&](std::string_view chunk) { file.append(chunk); });
  complete(file, to, sync);
}

int createNewFile(const std::string &path) {
  return ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, dataPermissions);
}

int openLockFile(const std::string &path) {
  return ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                dataPermissions);
}

bool replaceFileInHandler(const char *path, const char *partial, std::string_view content,
                          bool isDurable) {
  ::unlink(partial);
  int file = ::open(partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, dataPermissions);
  bool isWritten = file >= 0 && writeAll(file, content.data(), content.size());
  if (isWritten && isDurable)
    isWritten = ::fsync(file) == 0;
  if (file >= 0)
    isWritten = ::close(file) == 0 && isWritten;
  if (isWritten && ::rename(partial, path) == 0)
    return true;
  ::unlink(partial);
  file = ::open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0)
    return false;
  isWritten = writeAll(file, content.data(), content.size()) &&
              ::ftruncate(file, static_cast<off_t>(content.size())) == 0;
  return ::close(file) == 0 && isWritten;
}

PendingFile::PendingFile(std::string path, Role role, mode_t permissions)
    : target(std::move(path)), temporary(target + temporarySuffix), role(role),
      discards(discardsContent(target)) {
  if (discards)
    file = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
  else if (role == Role::Create)
    file = createAnew(temporary, target, permissions);
  else
    file = ::open(temporary.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0)
    failToWrite(discards ? target : temporary, errno);
}

PendingFile::~PendingFile() {
  // While it is locked: afterwards the name may be that of another writer.
  if (role == Role::Create && !renamed && !discards && isStillThere(file, temporary))
    ::unlink(temporary.c_str());
  if (file >= 0)
    ::close(file);
}

void PendingFile::resize(int64_t bytes) {
  if (!discards && ::ftruncate(file, bytes) != 0)
    failToWrite(temporary, errno);
}

void PendingFile::append(std::string_view content) {
  writeAt(end, content.data(), content.size());
  end += static_cast<int64_t>(content.size());
}

void PendingFile::writeAt(int64_t offset, const void *data, size_t size) {
  const char *bytes = static_cast<const char *>(data);
  while (size > 0) {
    ssize_t written = ::pwrite(file, bytes, size, offset);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      failToWrite(temporary, written < 0 ? errno : ENOSPC);
    bytes += written;
    offset += written;
    size -= static_cast<size_t>(written);
  }
}

void PendingFile::setPermissions(mode_t permissions) {
  if (!discards && ::fchmod(file, permissions) != 0)
    failToWrite(temporary, errno);
}

void PendingFile::sync() {
  if (!discards && ::fsync(file) != 0)
    failToWrite(temporary, errno);
}

void PendingFile::rename() {
  if (discards)
    return;
  if (!isStillThere(file, temporary)) // on a file system without locks
    refuseSecondWriter(target);
  if (std::rename(temporary.c_str(), target.c_str()) != 0)
    failToWrite(target, errno);
  renamed = true;
}

int PendingFile::release() {
  return std::exchange(file, -1);
}

} // namespace titan
