#include "compiler/diagnostics/SourceManager.h"

#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace titan {

// A device or a pipe may be endless; no program is this large.
static constexpr size_t maxBytes = size_t{1} << 28;

/// Reads a pipe; sets `error` if it is empty. Does not wait for a writer.
static std::string readPipe(const std::string &path, std::string &error) {
  std::string text;
  error.clear();
  int pipe = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (pipe < 0) {
    error = std::error_code(errno, std::generic_category()).message();
    return text;
  }
  char bytes[1 << 16];
  while (text.size() < maxBytes) {
    ssize_t count = ::read(pipe, bytes, sizeof bytes);
    if (count == 0)
      break;
    if (count > 0)
      text.append(bytes, static_cast<size_t>(count));
    else if (errno == EAGAIN) // somebody will write
      ::fcntl(pipe, F_SETFL, ::fcntl(pipe, F_GETFL) & ~O_NONBLOCK);
    else if (errno != EINTR)
      break;
  }
  ::close(pipe);
  if (text.empty())
    error = "this pipe has no data";
  else if (text.size() >= maxBytes)
    error = "it is endless";
  return text;
}

FileId SourceManager::addBuffer(std::string name, std::string text) {
  Buffer buffer{std::move(name), std::move(text), {0}};
  for (size_t at = 0; at < buffer.text.size(); ++at)
    if (buffer.text[at] == '\n')
      buffer.lineStarts.push_back(at + 1);
  buffers.push_back(std::move(buffer));
  return static_cast<FileId>(buffers.size() - 1);
}

std::optional<FileId> SourceManager::loadFile(const std::string &path, std::string &error) {
  constexpr std::streamsize most = maxBytes;
  std::error_code known;
  if (std::filesystem::is_fifo(path, known)) {
    std::string text = readPipe(path, error);
    return error.empty() ? std::optional(addBuffer(path, std::move(text))) : std::nullopt;
  }
  if (std::filesystem::is_character_file(path, known)) {
    std::ifstream device(path, std::ios::binary);
    std::string text(static_cast<size_t>(most), '\0');
    device.read(text.data(), most);
    text.resize(static_cast<size_t>(device.gcount()));
    error = "it is endless";
    return device.eof() ? std::optional(addBuffer(path, std::move(text))) : std::nullopt;
  }
  auto read = llvm::MemoryBuffer::getFile(path);
  if (!read) {
    error = read.getError().message();
    return std::nullopt;
  }
  return addBuffer(path, (*read)->getBuffer().str());
}

std::string_view SourceManager::name(FileId file) const {
  return file == FileId::none ? std::string_view() : buffer(file).name;
}

std::string_view SourceManager::text(FileId file) const {
  return file == FileId::none ? std::string_view() : buffer(file).text;
}

uint32_t SourceManager::lineCount(FileId file) const {
  return file == FileId::none ? 0 : static_cast<uint32_t>(buffer(file).lineStarts.size());
}

std::string_view SourceManager::line(FileId file, uint32_t line) const {
  if (line == 0 || line > lineCount(file))
    return {};
  const Buffer &in = buffer(file);
  size_t begin = in.lineStarts[line - 1];
  size_t end = line == in.lineStarts.size() ? in.text.size() : in.lineStarts[line] - 1;
  if (end > begin && in.text[end - 1] == '\r')
    --end;
  return std::string_view(in.text).substr(begin, end - begin);
}

Location SourceManager::locate(FileId file, size_t offset, size_t length) const {
  const Buffer &in = buffer(file);
  offset = std::min(offset, in.text.size());
  length = std::min(length, in.text.size() - offset);
  auto next = std::upper_bound(in.lineStarts.begin(), in.lineStarts.end(), offset);
  auto line = static_cast<uint32_t>(next - in.lineStarts.begin());
  auto col = static_cast<uint32_t>(offset - *(next - 1) + 1);
  return {file, line, col, static_cast<uint32_t>(length)};
}

size_t SourceManager::offset(Location location) const {
  if (!location.isValid())
    return 0;
  const Buffer &in = buffer(location.file);
  size_t line = std::min<size_t>(location.line, in.lineStarts.size());
  return std::min(in.lineStarts[line - 1] + location.col - 1, in.text.size());
}

std::string_view SourceManager::text(Location location) const {
  if (!location.isValid())
    return {};
  return text(location.file).substr(offset(location), location.length);
}

Location SourceManager::cover(Location first, Location last) const {
  if (!first.isValid() || !last.isValid() || first.file != last.file)
    return first.isValid() ? first : last;
  size_t begin = std::min(offset(first), offset(last));
  size_t end = std::max(offset(first) + first.length, offset(last) + last.length);
  return locate(first.file, begin, end - begin);
}

} // namespace titan
