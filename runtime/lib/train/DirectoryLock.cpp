#include "DirectoryLock.h"

#include "titan/runtime/error.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fmt/format.h>

namespace titan::rt {

namespace {

std::string hostName() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return host;
}

/// Who holds the lock, as it wrote there.
std::string readHolder(int file) {
  char text[300] = "";
  ssize_t length = ::pread(file, text, sizeof text - 1, 0);
  std::string holder(text, length > 0 ? static_cast<size_t>(length) : 0);
  return holder.substr(0, holder.find('\n'));
}

void writeHolder(int file) {
  std::string text = fmt::format("process {} on {}\n", getpid(), hostName());
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, text.data(), text.size(), 0) < 0)
    return; // it is locked all the same
}

[[noreturn]] void refuse(const std::string &directory, const std::string &path,
                         const std::string &holder) {
  // A file server may not have noticed that another machine went down.
  std::string remedy = holder.ends_with(" on " + hostName())
                           ? ""
                           : fmt::format("; if its machine went down, remove '{}'", path);
  throw UserError(fmt::format("another run writes to '{}' ({}): pass another --out DIR, or wait "
                              "until it has ended{}",
                              directory, holder, remedy));
}

} // namespace

DirectoryLock::DirectoryLock(const std::string &directory) {
  const std::string path = directory + "/.lock";
  file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0)
    return; // what must be written says why it cannot
  // A file system without locks keeps nobody out.
  if (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    std::string holder = readHolder(file);
    ::close(file);
    refuse(directory, path, holder);
  }
  writeHolder(file);
}

DirectoryLock::~DirectoryLock() {
  if (file >= 0)
    ::close(file);
}

} // namespace titan::rt
