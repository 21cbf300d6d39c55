#include "EventFile.h"

#include "base/Error.h"
#include "base/files/DurableFile.h"
#include "files/Checksum.h"

#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>

namespace titan::rt {

namespace {

/// A protobuf message under construction: fields with number, wire type and content.
class ProtobufMessage {
public:
  ProtobufMessage &number(int field, uint64_t value) {
    varint(static_cast<uint64_t>(field) << 3);
    varint(value);
    return *this;
  }
  ProtobufMessage &real64(int field, double value) {
    varint(static_cast<uint64_t>(field) << 3 | 1);
    fixed(std::bit_cast<uint64_t>(value));
    return *this;
  }
  ProtobufMessage &real32(int field, float value) {
    varint(static_cast<uint64_t>(field) << 3 | 5);
    fixed(std::bit_cast<uint32_t>(value));
    return *this;
  }
  ProtobufMessage &text(int field, const std::string &value) {
    varint(static_cast<uint64_t>(field) << 3 | 2);
    varint(value.size());
    bytes += value;
    return *this;
  }
  const std::string &str() const { return bytes; }

private:
  void varint(uint64_t value) {
    for (; value >= 128; value >>= 7)
      bytes += static_cast<char>(value | 128);
    bytes += static_cast<char>(value);
  }
  template <typename T> void fixed(T value) {
    for (size_t i = 0; i < sizeof(T); ++i)
      bytes += static_cast<char>(value >> (8 * i));
  }
  std::string bytes;
};

/// The lowest `count` bytes of a number.
std::string littleEndian(uint64_t value, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i)
    bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

/// Checksums of data that contains checksums are weak, so the format rotates them.
uint32_t masked(uint32_t crc) {
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

/// Event { double wall_time = 1; int64 step = 2; ... }
ProtobufMessage event(int64_t step) {
  std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  ProtobufMessage message;
  message.real64(1, now.count());
  if (step != 0)
    message.number(2, static_cast<uint64_t>(step));
  return message;
}

std::string makeNamePrefix() {
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  auto now = std::chrono::system_clock::now().time_since_epoch();
  auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  return fmt::format("events.out.tfevents.{:010}.{}.{}.", seconds, host, getpid());
}

/// Creates a new file. In containers, processes started in the same second may have equal ids.
std::FILE *createFile(const std::string &directory, std::string &path) {
  const std::string begin = (std::filesystem::path(directory) / makeNamePrefix()).string();
  int descriptor = -1;
  for (int number = 0; descriptor < 0; ++number) {
    path = begin + std::to_string(number);
    descriptor = createNewFile(path);
    if (descriptor < 0 && errno != EEXIST)
      failToWrite(path, errno);
  }
  return ::fdopen(descriptor, "w");
}

} // namespace

EventFile::EventFile(const std::string &directory, int64_t resumedAfter) {
  createDirectories(directory);
  file = createFile(directory, path);
  syncDirectory(directory);
  writeRecord(event(0).text(3, "brain.Event:2").str());
  // SessionLog { SessionStatus status = 1; }, START = 1, is field 7: it voids later steps of other
  // files.
  writeRecord(event(resumedAfter + 1).text(7, ProtobufMessage().number(1, 1).str()).str());
  flush();
}

EventFile::~EventFile() {
  std::fclose(file);
}

void EventFile::append(int64_t step, const std::vector<std::pair<std::string, double>> &scalars) {
  // Summary { repeated Value value = 1; }, Value { tag = 1; simple_value = 2; }
  ProtobufMessage summary;
  for (const auto &[tag, value] : scalars)
    summary.text(1, ProtobufMessage().text(1, tag).real32(2, static_cast<float>(value)).str());
  writeRecord(event(step).text(5, summary.str()).str());
  flush();
}

void EventFile::sync() {
  syncStream(file, path);
}

void EventFile::flush() {
  if (std::fflush(file) != 0 || std::ferror(file))
    throw Fault("cannot write '" + path + "': " + std::strerror(errno));
}

void EventFile::writeRecord(const std::string &data) {
  std::string length = littleEndian(data.size(), 8);
  std::string record = length + littleEndian(masked(crc32c(length)), 4) + data +
                       littleEndian(masked(crc32c(data)), 4);
  std::fwrite(record.data(), 1, record.size(), file);
}

} // namespace titan::rt
