#include "files/DurableFile.h"
#include "files/ReadFile.h"
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

std::optional<RunStatus::Weights> readWeightsOfStatus(const std::string &path) {
  constexpr size_t longest = size_t{1} << 20;
  if (!isRegular(path))
    return std::nullopt;
  auto json = nlohmann::json::parse(readWhole(path, longest), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json["weights"].is_object())
    return std::nullopt;
  nlohmann::json &weights = json["weights"];
  if (!weights["bytes"].is_number_unsigned() || !weights["crc32c"].is_number_unsigned())
    return std::nullopt;
  return RunStatus::Weights{weights["bytes"].get<int64_t>(), weights["crc32c"].get<uint32_t>()};
}

void writeStatus(const std::string &path, const RunStatus &status) {
  nlohmann::ordered_json json = {
      {"state", status.state},     {"step", status.step},
      {"steps", status.steps},     {"exit_status", status.exitStatus},
      {"message", status.message}, {"updated", static_cast<int64_t>(std::time(nullptr))}};
  if (status.weights)
    json["weights"] = {{"file", "model.safetensors"},
                       {"bytes", status.weights->bytes},
                       {"crc32c", status.weights->crc}};
  // While it runs, the next one comes soon, and steps wait for no disk.
  writeFileAtomically(path,
                      json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n",
                      status.state == "running" ? Sync::No : Sync::All);
}

} // namespace titan::rt
