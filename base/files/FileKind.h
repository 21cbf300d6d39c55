// Names of file kinds for messages.
#pragma once

#include <string>
#include <sys/stat.h>

namespace titan {

/// Whether the path is a regular file, or a link to one. Opening other kinds may block.
inline bool isRegular(const std::string &path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

inline const char *describeKind(const struct stat &status) {
  switch (status.st_mode & S_IFMT) {
  case S_IFREG:
    return "a regular file";
  case S_IFDIR:
    return "a folder";
  case S_IFLNK:
    return "a symbolic link";
  case S_IFIFO:
    return "a pipe";
  case S_IFSOCK:
    return "a socket";
  case S_IFCHR:
    return "a character device";
  case S_IFBLK:
    return "a block device";
  }
  return "of an unknown kind";
}

} // namespace titan
