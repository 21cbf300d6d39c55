#include "base/files/MappedFile.h"

#include "base/Error.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace titan {

namespace {

[[noreturn]] void fail(const std::string &path, int error) {
  throw UserError("cannot read '" + path + "': " + std::strerror(error));
}

/// Mapped files, for the SIGBUS handler; excess files are not named.
std::array<std::atomic<const MappedFile *>, 256> mapped;

void replaceInTable(const MappedFile *from, const MappedFile *to) {
  for (auto &entry : mapped)
    if (const MappedFile *expected = from; entry.compare_exchange_strong(expected, to))
      return;
}

} // namespace

const char *mappedFileAt(const void *address) {
  for (auto &entry : mapped)
    if (const MappedFile *file = entry)
      if (const std::span<const std::byte> bytes = file->bytes();
          address >= bytes.data() && address < bytes.data() + bytes.size())
        return file->path().c_str();
  return nullptr;
}

MappedFile::MappedFile(const std::string &path, bool checksTruncation) : filePath(path) {
  // O_NONBLOCK: a pipe would block.
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    fail(path, errno);
  struct stat status;
  int error = ::fstat(file, &status) != 0 ? errno : S_ISDIR(status.st_mode) ? EISDIR : 0;
  if (error == 0 && !S_ISREG(status.st_mode)) {
    ::close(file);
    throw UserError("cannot read '" + path + "': it is not a regular file");
  }
  if (error == 0 && status.st_size > 0) {
    size = static_cast<size_t>(status.st_size);
    void *mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
      error = errno;
    else
      data = static_cast<const std::byte *>(mapped);
  }
  if (checksTruncation && error == 0)
    descriptor = file;
  else
    ::close(file);
  if (error != 0)
    fail(path, error);
  replaceInTable(nullptr, this);
}

MappedFile::~MappedFile() {
  replaceInTable(this, nullptr);
  if (descriptor >= 0)
    ::close(descriptor);
  if (data)
    ::munmap(const_cast<std::byte *>(data), size);
}

void MappedFile::release() const {
  if (data)
    ::madvise(const_cast<std::byte *>(data), size, MADV_DONTNEED);
}

void MappedFile::requireUntruncated() const {
  struct stat status;
  if (::fstat(descriptor, &status) != 0)
    throw Fault("cannot read '" + filePath + "': " + std::strerror(errno));
  if (static_cast<size_t>(status.st_size) < size)
    throw Fault("'" + filePath + "' has " + std::to_string(status.st_size) + " bytes, and had " +
                std::to_string(size) + " when it was opened: another process truncated it");
}

} // namespace titan
