#include "DirectoryLock.h"

#include "base/Error.h"
#include "base/HostName.h"
#include "base/files/DurableFile.h"
#include "base/files/FileKind.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace titan::rt {

namespace {

/// The line that the holder of the lock has written: the complete first line of the file, or
/// nothing.
std::string readLine(int file) {
  char text[400] = "";
  ssize_t length = ::pread(file, text, sizeof text - 1, 0);
  std::string holder(text, length > 0 ? static_cast<size_t>(length) : 0);
  size_t end = holder.find('\n');
  return end == std::string::npos ? "" : holder.substr(0, end);
}

bool isOfThisHost(const std::string &holder) {
  return holder.ends_with(" on " + hostName());
}

/// Whether the line can describe the current holder: a process that no longer exists holds no lock.
bool isCurrent(const std::string &holder) {
  int process = 0;
  if (holder.empty() || std::sscanf(holder.c_str(), "process %d on ", &process) != 1)
    return false;
  return !isOfThisHost(holder) || ::kill(process, 0) == 0 || errno == EPERM;
}

/// The line of the current holder. Waits up to half a second for it, because a process that has
/// just locked the file may not have written its line yet.
std::string readHolder(int file) {
  std::string holder;
  for (int tries = 0; tries < 50; ++tries) {
    holder = readLine(file);
    if (isCurrent(holder))
      break;
    ::usleep(10'000);
  }
  return holder;
}

void writeHolder(int file) {
  std::string text = fmt::format("process {} on {}\n", getpid(), hostName());
  auto length = static_cast<off_t>(text.size());
  // In this order, the first line is that of the previous or of this holder, never a mixture.
  if (::pwrite(file, text.data(), text.size(), 0) < 0 || ::ftruncate(file, length) != 0)
    return; // it is locked anyway
}

/// Never follows a link or opens a special file.
int openLock(const std::string &path) {
  int file = openLockFile(path);
  struct stat status;
  bool isKnown = ::lstat(path.c_str(), &status) == 0;
  if (isKnown && !S_ISREG(status.st_mode)) {
    if (file >= 0)
      ::close(file);
    throw UserError(fmt::format("cannot lock '{}': it is {}, not a regular file; remove it", path,
                                describeKind(status)));
  }
  return file;
}

[[noreturn]] void refuse(const std::string &directory, const std::string &path,
                         const std::string &holder, DirectoryLock::Owner owner) {
  // A file server may not have noticed that another machine failed.
  std::string remedy = holder.empty() || isOfThisHost(holder)
                           ? ""
                           : fmt::format("; if its machine went down, remove '{}'", path);
  throw UserError(fmt::format("another {} writes to '{}' ({}): pass another {}, or wait "
                              "until it has ended{}",
                              owner.kind, directory,
                              holder.empty() ? "a process that is starting" : holder, owner.option,
                              remedy));
}

/// Whether the file was removed by its holder, who has ended since it was opened.
bool isRemoved(int file) {
  struct stat status;
  return ::fstat(file, &status) == 0 && status.st_nlink == 0;
}

} // namespace

DirectoryLock::DirectoryLock(const std::string &directory, Owner owner)
    : path(directory + "/.lock") {
  do {
    if (file >= 0)
      ::close(file);
    file = openLock(path);
    if (file < 0)
      return; // the first write will report the reason
    // A file system without locks excludes nobody.
    if (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      std::string holder = readHolder(file);
      ::close(file);
      refuse(directory, path, holder, owner);
    }
  } while (isRemoved(file));
  writeHolder(file);
}

DirectoryLock::~DirectoryLock() {
  if (file >= 0)
    ::close(file);
}

void DirectoryLock::removeFile() {
  if (file >= 0)
    ::unlink(path.c_str());
}

} // namespace titan::rt
