#include "titan/runtime/mapped_file.h"

#include "titan/runtime/error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace titan::rt {

namespace {

[[noreturn]] void fail(const std::string &path, int error) {
  throw UserError("cannot read '" + path + "': " + std::strerror(error));
}

} // namespace

MappedFile::MappedFile(const std::string &path) : filePath(path) {
  // A pipe would wait for who writes into it.
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    fail(path, errno);
  struct stat status;
  int error = ::fstat(file, &status) != 0 ? errno : S_ISDIR(status.st_mode) ? EISDIR : 0;
  if (error == 0 && !S_ISREG(status.st_mode)) {
    ::close(file);
    throw UserError("cannot read '" + path + "': it is no regular file");
  }
  if (error == 0 && status.st_size > 0) {
    size = static_cast<size_t>(status.st_size);
    void *mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
      error = errno;
    else
      data = static_cast<const std::byte *>(mapped);
  }
  ::close(file);
  if (error != 0)
    fail(path, error);
}

MappedFile::~MappedFile() {
  if (data)
    ::munmap(const_cast<std::byte *>(data), size);
}

void MappedFile::release() const {
  if (data)
    ::madvise(const_cast<std::byte *>(data), size, MADV_DONTNEED);
}

} // namespace titan::rt
