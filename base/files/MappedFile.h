// A file mapped read-only into memory, for data sets and weights: pages come in as they are used
// and every process of a machine shares them. Errors: UserError naming the file and the reason.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace titan {

class MappedFile {
public:
  /// `checksTruncation`: requireUntruncated() will be asked.
  explicit MappedFile(const std::string &path, bool checksTruncation = false);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  const std::string &path() const { return filePath; }
  std::span<const std::byte> bytes() const { return {data, size}; }
  /// Lets go of the pages that were used: they no longer count as this process's memory, and come
  /// back from the file when they are used again. So who reads large files does not grow by them.
  void release() const;
  /// Throws Fault where the file is shorter than it was: the rest of its last page would be read as
  /// zeros, and pages behind it end the process.
  void requireUntruncated() const;

private:
  std::string filePath;
  int descriptor = -1; // the open file
  const std::byte *data = nullptr;
  size_t size = 0;
};

/// For signal handlers: the path of the file that is mapped at an address, or null.
const char *mappedFileAt(const void *address);

} // namespace titan
