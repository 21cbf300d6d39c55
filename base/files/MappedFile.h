// A file mapped read-only, for data sets and weights: pages load on use, and all processes of a
// machine share them. Errors: UserError naming the file and the reason.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace titan {

class MappedFile {
public:
  /// `checksTruncation`: requireUntruncated() will be called.
  explicit MappedFile(const std::string &path, bool checksTruncation = false);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  const std::string &path() const { return filePath; }
  std::span<const std::byte> bytes() const { return {data, size}; }
  /// Releases the pages that were used: they no longer count as memory of the process, and load
  /// again on use. So reading a large file does not grow the process.
  void release() const;
  /// Throws Fault if the file is shorter than when it was opened: the rest of its last page would
  /// read as zeros, and later pages would end the process.
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
