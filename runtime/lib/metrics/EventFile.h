// A file of scalars that TensorBoard reads: records of TensorFlow's format, each an Event message
// of protobuf. Both are a few lines, so no library is needed: a record is its length and its bytes,
// each followed by a masked CRC-32C (tensorflow/core/lib/io/record_writer.h); the messages are
// those of tensorflow/core/util/event.proto.
//
// Errors: UserError if the file cannot be made, Fault if it cannot be written any more.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace titan::rt {

class EventFile {
public:
  /// A new file in the directory. What earlier files of the run say about steps after
  /// `resumedAfter` is void: TensorBoard drops it.
  EventFile(const std::string &directory, int64_t resumedAfter);
  ~EventFile();
  EventFile(const EventFile &) = delete;
  EventFile &operator=(const EventFile &) = delete;

  void append(int64_t step, const std::vector<std::pair<std::string, double>> &scalars);
  /// What was written survives a loss of power.
  void sync();

private:
  void writeRecord(const std::string &data);
  void flush();

  std::string path;
  std::FILE *file;
};

} // namespace titan::rt
