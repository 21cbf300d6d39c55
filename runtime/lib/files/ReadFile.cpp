#include "ReadFile.h"

#include "base/Error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

namespace titan::rt {

std::string describe(ReadError error) {
  return error == notRegular ? "it is not a regular file" : std::strerror(static_cast<int>(error));
}

namespace {

struct OpenedFile {
  int descriptor;
  ReadError error;
};

OpenedFile openRegular(const std::string &path) {
  int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (file < 0)
    return {-1, errno};
  struct stat status;
  ReadError error = ::fstat(file, &status) != 0 ? errno
                    : S_ISDIR(status.st_mode)   ? EISDIR
                    : !S_ISREG(status.st_mode)  ? notRegular
                                                : noReadError;
  if (error == noReadError)
    return {file, noReadError};
  ::close(file);
  return {-1, error};
}

} // namespace

ReadError readChunks(const std::string &path,
                     const std::function<bool(std::span<const std::byte>)> &take) {
  constexpr size_t chunkBytes = size_t{1} << 20;
  auto [file, error] = openRegular(path);
  if (error != noReadError)
    return error;
  std::vector<std::byte> buffer(chunkBytes);
  for (off_t at = 0;;) {
    ssize_t count = ::pread(file, buffer.data(), buffer.size(), at);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      error = errno;
    if (count <= 0 || !take(std::span(buffer).first(static_cast<size_t>(count))))
      break;
    at += count;
  }
  ::close(file);
  return error;
}

std::string readWholeFile(const std::string &path, size_t limit) {
  std::string content;
  ReadError error = readChunks(path, [&](std::span<const std::byte> chunk) {
    content.append(reinterpret_cast<const char *>(chunk.data()), chunk.size());
    return content.size() <= limit;
  });
  if (error != noReadError)
    throw UserError(fmt::format("{}: cannot be read: {}", path, describe(error)));
  if (content.size() > limit)
    throw UserError(fmt::format("{}: cannot be read: it has more than {} bytes", path, limit));
  return content;
}

} // namespace titan::rt
