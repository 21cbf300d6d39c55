// The file metrics.jsonl (MetricsFile of Metrics.h).
#include "Metrics.h"
#include "base/Error.h"
#include "base/files/DurableFile.h"
#include "base/files/FileKind.h"
#include "files/ReadFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace titan::rt {

namespace {

/// The rows of an earlier run up to a step. Drops a last line that a crash truncated.
std::string rowsUpTo(const std::string &path, int64_t step) {
  std::ifstream stream(path);
  std::string remaining, line;
  while (std::getline(stream, line)) {
    auto row = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!row.is_object() || !row.contains("step") || !row["step"].is_number_integer() ||
        row["step"].get<int64_t>() > step)
      continue;
    remaining += line + "\n";
  }
  return remaining;
}

} // namespace

MetricsFile::MetricsFile(const std::string &path, int digits, int64_t keep)
    : path(path), digits(digits) {
  PendingFile rows(path);
  if (keep > 0 && isRegular(path)) // a pipe would block
    rows.append(rowsUpTo(path, keep));
  rows.sync();
  rows.rename();
  // The same file, even if its name is reused.
  int descriptor = rows.release();
  ::lseek(descriptor, 0, SEEK_END);
  file = ::fdopen(descriptor, "w");
  if (!file) {
    int error = errno;
    ::close(descriptor);
    failToWrite(path, error);
  }
}

MetricsFile::~MetricsFile() {
  std::fclose(file);
}

void MetricsFile::append(const MetricsRow &row) {
  std::fputs((toJson(row, digits) + "\n").c_str(), file);
  if (std::fflush(file) != 0 || std::ferror(file))
    throw Fault("cannot write '" + path + "': " + std::strerror(errno));
}

void MetricsFile::sync() {
  syncStream(file, path);
}

} // namespace titan::rt
