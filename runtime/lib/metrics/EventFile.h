// A file of scalars for TensorBoard: records in TensorFlow's format, each with a protobuf Event
// message. Both are short, so no library is needed. A record is its length and its bytes, each
// followed by a masked CRC-32C (tensorflow/core/lib/io/record_writer.h); the messages are defined
// in tensorflow/core/util/event.proto.
//
// Errors: UserError if the file cannot be created, Fault if it cannot be written later.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace titan::rt {

class EventFile {
public:
  /// Creates a file in the directory. It makes TensorBoard drop steps after `resumedAfter` from
  /// earlier files of the run.
  EventFile(const std::string &directory, int64_t resumedAfter);
  ~EventFile();
  EventFile(const EventFile &) = delete;
  EventFile &operator=(const EventFile &) = delete;

  void append(int64_t step, const std::vector<std::pair<std::string, double>> &scalars);
  /// Makes the content survive a power failure.
  void sync();

private:
  void writeRecord(const std::string &data);
  void flush();

  std::string path;
  std::FILE *file;
};

} // namespace titan::rt
