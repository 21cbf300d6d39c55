#include "StatusFile.h"

#include "base/HostName.h"
#include "base/files/DurableFile.h"
#include "base/files/FileKind.h"
#include "files/ReadFile.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace titan::rt {

namespace {

int64_t secondsNow() {
  return static_cast<int64_t>(std::time(nullptr));
}

/// "2026-11-25 10:11:12 UTC".
std::string formatTime(int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm fields = {};
  gmtime_r(&time, &fields);
  char text[64] = "";
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &fields);
  return text;
}

/// Makes the file's name durable. A failure is a warning, because the status itself is written.
void syncName(const std::string &path) {
  try {
    syncParent(path);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "warning: %s\n", error.what());
  }
}

} // namespace

StatusFile::StatusFile(std::string where, int64_t steps, std::chrono::milliseconds beat)
    : path(std::move(where)), partial(path + ".partial"), crashed(path + ".crashed"),
      host(hostName()), steps(steps), started(secondsNow()), interval(beat) {
  // The heartbeat thread handles no signals.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  heart = std::thread([this] { this->beat(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

StatusFile::~StatusFile() {
  {
    std::lock_guard lock(mutex);
    isEnding = true;
  }
  ending.notify_all();
  heart.join();
}

void StatusFile::beat() {
  std::unique_lock lock(mutex);
  while (!ending.wait_for(lock, interval, [this] { return isEnding; }))
    if (stepEnded != 0 && current.state == "running") {
      current.step = step;
      writeNow();
    }
}

bool StatusFile::write(RunStatus status) {
  std::lock_guard lock(mutex);
  current = std::move(status);
  noteStep(current.step);
  return writeNow();
}

bool StatusFile::writeNow() {
  isWriting = true;
  const bool isLast = current.state != "running";
  const bool isWritten =
      isOver || replaceFileInHandler(path.c_str(), partial.c_str(), toJson(), /*isDurable=*/isLast);
  isWriting = false;
  if (isLast && isWritten)
    syncName(path);
  return isWritten;
}

std::string StatusFile::toJson() const {
  nlohmann::ordered_json json = {{"state", current.state},
                                 {"step", current.step},
                                 {"steps", steps},
                                 {"exit_status", current.exitStatus},
                                 {"message", current.message},
                                 {"pid", getpid()},
                                 {"host", host},
                                 {"started", started},
                                 {"updated", secondsNow()},
                                 {"step_ended", stepEnded.load()}};
  if (current.weights)
    json["weights"] = {{"file", "model.safetensors"},
                       {"bytes", current.weights->bytes},
                       {"crc32c", current.weights->crc}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

void StatusFile::noteStep(int64_t ended) {
  step = ended;
  stepEnded = secondsNow();
}

void StatusFile::writeFromHandler(int exitStatus, const SafeText &message) {
  isOver = true;
  constexpr timespec aMillisecond = {0, 1'000'000};
  for (int i = 0; i < 20 && isWriting; ++i) // another thread that could overwrite this status
    nanosleep(&aMillisecond, nullptr);
  SafeText text;
  text << "{\n  \"state\": \"failed\",\n  \"step\": " << step.load() << ",\n  \"steps\": " << steps
       << ",\n  \"exit_status\": " << exitStatus << ",\n  \"message\": \"";
  text.json(message.text()) << "\",\n  \"pid\": " << int64_t{getpid()} << ",\n  \"host\": \"";
  text.json(host.c_str()) << "\",\n  \"started\": " << started
                          << ",\n  \"updated\": " << secondsNow()
                          << ",\n  \"step_ended\": " << stepEnded.load() << "\n}\n";
  replaceFileInHandler(path.c_str(), crashed.c_str(), {text.text(), text.size()},
                       /*isDurable=*/false);
}

std::string describeUnended(const std::string &path) {
  std::error_code absent;
  if (!std::filesystem::is_regular_file(path, absent))
    return "";
  std::ifstream stream(path);
  auto json = nlohmann::json::parse(stream, nullptr, /*allow_exceptions=*/false);
  try {
    if (!json.is_object() || json.at("state") != "running")
      return "";
    return fmt::format("after step {} (process {} on {}, last seen {})",
                       json.at("step").get<int64_t>(), json.at("pid").get<int64_t>(),
                       json.at("host").get<std::string>(),
                       formatTime(json.at("updated").get<int64_t>()));
  } catch (const std::exception &) { // of another program, or damaged
    return "";
  }
}

std::optional<RunStatus::Weights> readWeightsOfStatus(const std::string &path) {
  constexpr size_t longest = size_t{1} << 20;
  if (!isRegular(path))
    return std::nullopt;
  auto json =
      nlohmann::json::parse(readWholeFile(path, longest), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json["weights"].is_object())
    return std::nullopt;
  nlohmann::json &weights = json["weights"];
  if (!weights["bytes"].is_number_unsigned() || !weights["crc32c"].is_number_unsigned())
    return std::nullopt;
  return RunStatus::Weights{weights["bytes"].get<int64_t>(), weights["crc32c"].get<uint32_t>()};
}

} // namespace titan::rt
