// Owns source texts. Every .titan file, `--set` argument and configuration value is a buffer here,
// so diagnostics have locations in all of them.
//
// A Location is small, plain and self-describing (line and column, no offset). MLIR FileLineCol
// locations and emitted C++ comments use it unchanged. Lines and columns count from 1; columns and
// lengths are bytes of UTF-8, as in clang. A length may span line ends; printing underlines only
// the first line.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace titan {

/// Identifies a buffer of a SourceManager. `none`: not from a source text, as generated operations.
enum class FileId : uint32_t { none = UINT32_MAX };

struct Location {
  FileId file = FileId::none;
  uint32_t line = 0;
  uint32_t col = 0;
  uint32_t length = 0;

  bool isValid() const { return file != FileId::none && line != 0; }
  bool operator==(const Location &) const = default;
};

class SourceManager {
public:
  /// Adds text under a name that diagnostics print, e.g. a path or "--set".
  FileId addBuffer(std::string name, std::string text);

  /// Reads a file. On failure returns nothing and puts the system's reason into `error`.
  std::optional<FileId> loadFile(const std::string &path, std::string &error);

  std::string_view name(FileId file) const;
  std::string_view text(FileId file) const;
  /// The text of a line without its line end; empty when there is no such line.
  std::string_view line(FileId file, uint32_t line) const;
  uint32_t lineCount(FileId file) const;

  /// The location of `length` bytes at a byte offset. An offset at or past the end is the end.
  Location locate(FileId file, size_t offset, size_t length) const;
  /// The byte offset of a location's first byte (clamped into the buffer).
  size_t offset(Location location) const;
  /// The text that a location covers.
  std::string_view text(Location location) const;
  /// The smallest location that covers both. Both must be in one file; an invalid one is ignored.
  Location cover(Location first, Location last) const;

  size_t bufferCount() const { return buffers.size(); }

private:
  struct Buffer {
    std::string name;
    std::string text;
    std::vector<size_t> lineStarts;
  };
  const Buffer &buffer(FileId file) const { return buffers[static_cast<uint32_t>(file)]; }

  std::deque<Buffer> buffers; // a deque, so that views into texts stay valid
};

} // namespace titan
