#include "files/DurableFile.h"
#include "files/FileKind.h"
#include "titan/runtime/error.h"
#include "titan/runtime/metrics.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace titan::rt {

namespace {

bool isRegular(const std::string &path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
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
  PendingFile rows(path);
  if (keep > 0 && isRegular(path)) // a pipe would wait for its writer
    rows.append(rowsUpTo(path, keep));
  rows.sync();
  rows.rename();
  // The same file, whatever has the name from here on.
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

void writeStatus(const std::string &path, const RunStatus &status) {
  nlohmann::ordered_json json = {
      {"state", status.state},     {"step", status.step},
      {"steps", status.steps},     {"exit_status", status.exitStatus},
      {"message", status.message}, {"updated", static_cast<int64_t>(std::time(nullptr))}};
  // While it runs, the next one comes soon, and steps wait for no disk.
  writeFileAtomically(path,
                      json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n",
                      status.state == "running" ? Sync::No : Sync::Yes);
}

} // namespace titan::rt
