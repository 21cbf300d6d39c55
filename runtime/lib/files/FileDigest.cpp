#include "FileDigest.h"

#include "Checksum.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

namespace titan::rt {

namespace {

namespace fs = std::filesystem;

/// In bytes: the largest file that is read completely, a block of larger ones, and a read.
constexpr int64_t kMaxWhole = 16 << 20, kBlock = 4096, kChunk = 1 << 20;
constexpr int64_t kBlocks = 256;

/// Adds the bytes at `offset` to the checksum; false if they cannot be read.
bool addToChecksum(int file, int64_t offset, int64_t bytes, std::vector<std::byte> &buffer,
                   uint32_t &sum) {
  for (int64_t done = 0; done < bytes;) {
    ssize_t got =
        ::pread(file, buffer.data(), std::min<int64_t>(kChunk, bytes - done), offset + done);
    if (got <= 0)
      return false;
    sum = crc32c(std::span(buffer).first(static_cast<size_t>(got)), sum);
    done += got;
  }
  return true;
}

std::string computeFileDigest(int file, int64_t size) {
  std::vector<std::byte> buffer(kChunk);
  uint32_t sum = 0;
  bool isRead = true;
  if (size <= kMaxWhole)
    isRead = addToChecksum(file, 0, size, buffer, sum);
  else
    for (int64_t block = 0; block < kBlocks && isRead; ++block)
      isRead = addToChecksum(file, (size - kBlock) / (kBlocks - 1) * block, kBlock, buffer, sum) &&
               (block + 1 < kBlocks || addToChecksum(file, size - kBlock, kBlock, buffer, sum));
  if (!isRead)
    return fmt::format("{} bytes, which cannot be read", size);
  return fmt::format("{} bytes, CRC-32C {:08x}{}", size, sum,
                     size > kMaxWhole ? " of samples" : "");
}

std::string computeDirectoryDigest(const std::string &path) {
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(path, error))
    if (entry.is_regular_file(error) && !entry.path().filename().string().starts_with('.'))
      files.push_back(entry.path().filename().string());
  std::sort(files.begin(), files.end());
  std::string all;
  for (const std::string &file : files)
    all += file + " " + computeDigest((fs::path(path) / file).string()) + "\n";
  return fmt::format("{} files, CRC-32C {:08x}", files.size(), crc32c(all));
}

} // namespace

std::string computeDigest(const std::string &path) {
  int file =
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); // O_NONBLOCK: a pipe would block
  struct stat status = {};
  if (file < 0 || ::fstat(file, &status) != 0)
    return fmt::format("cannot be read: {}", std::strerror(errno));
  std::string digest = S_ISREG(status.st_mode)   ? computeFileDigest(file, status.st_size)
                       : S_ISDIR(status.st_mode) ? computeDirectoryDigest(path)
                                                 : "is not a regular file";
  ::close(file);
  return digest;
}

} // namespace titan::rt
