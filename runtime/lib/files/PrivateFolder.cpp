#include "PrivateFolder.h"

#include "base/Error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace titan::rt {

namespace {

[[noreturn]] void refuse(const std::filesystem::path &folder, const std::string &reason) {
  throw UserError(fmt::format("'{}' cannot be used: {}", folder.string(), reason));
}

/// Takes the permission to write to an open folder from everybody else; returns why that is
/// impossible, or nothing.
std::string takeOver(int descriptor) {
  struct stat status;
  if (::fstat(descriptor, &status) != 0)
    return std::strerror(errno);
  if (status.st_uid != ::geteuid())
    return fmt::format("it belongs to user {}, not to {}", status.st_uid, ::geteuid());
  const mode_t others = S_IWGRP | S_IWOTH;
  if ((status.st_mode & others) && ::fchmod(descriptor, status.st_mode & 07777 & ~others) != 0)
    return std::strerror(errno);
  return "";
}

} // namespace

void makePrivateFolder(const std::filesystem::path &folder) {
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path(), error);
  if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    refuse(folder, std::strerror(errno));
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0)
    refuse(folder, errno == ENOTDIR || errno == ELOOP ? "it is a link, or no folder"
                                                      : std::strerror(errno));
  const std::string reason = takeOver(descriptor);
  ::close(descriptor);
  if (!reason.empty())
    refuse(folder, reason);
}

} // namespace titan::rt
