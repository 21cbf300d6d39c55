#include "titan/runtime/error.h"
#include "titan/runtime/metrics.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace titan::rt {

namespace {

[[noreturn]] void fail(const std::string &path) {
  throw UserError("cannot write '" + path + "': " + std::strerror(errno));
}

/// The rows of an earlier run up to a step. A last line that a crash cut short is dropped.
std::string rowsUpTo(const std::string &path, int64_t step) {
  std::ifstream stream(path);
  std::string kept, line;
  while (std::getline(stream, line)) {
    auto row = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!row.is_object() || !row.contains("step") || !row["step"].is_number_integer() ||
        row["step"].get<int64_t>() > step)
      continue;
    kept += line + "\n";
  }
  return kept;
}

} // namespace

MetricsFile::MetricsFile(const std::string &path, int digits, int64_t keep)
    : path(path), digits(digits) {
  writeFileAtomically(path, keep > 0 ? rowsUpTo(path, keep) : "");
  file = std::fopen(path.c_str(), "ae");
  if (!file)
    fail(path);
}

MetricsFile::~MetricsFile() {
  std::fclose(file);
}

void MetricsFile::append(const MetricsRow &row) {
  std::fputs((toJson(row, digits) + "\n").c_str(), file);
  if (std::fflush(file) != 0 || std::ferror(file))
    throw Fault("cannot write '" + path + "': " + std::strerror(errno));
}

void writeFileAtomically(const std::string &path, const std::string &content) {
  std::string temporary = path + ".partial";
  int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0)
    fail(temporary);
  size_t written = 0;
  while (written < content.size()) {
    ssize_t count = ::write(file, content.data() + written, content.size() - written);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0) {
      ::close(file);
      fail(temporary);
    }
    written += static_cast<size_t>(count);
  }
  if (::close(file) != 0 || std::rename(temporary.c_str(), path.c_str()) != 0)
    fail(path);
}

} // namespace titan::rt
