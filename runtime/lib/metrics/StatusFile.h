// status.json: how a run stands, for whoever watches a queue.
//
//   state        running, finished, stopped (by a signal, after saving), nonfinite (a loss that is
//                not finite) or failed
//   step, steps  done, and to do in all
//   exit_status  what the process will end with, since launchers fold it
//   message      why it is no longer running
//   weights      size and CRC-32C of model.safetensors, once the run has written it
//   pid, host, started   the process that writes it
//   updated      when it was written: while the process lives, every 20 seconds at least
//   step_ended   when the latest step ended
//
// The last status of a run survives a loss of power; earlier ones need not, as steps wait for no
// disk. Times are seconds since 1970. A process that is killed outright (SIGKILL) leaves `running`:
// then `updated` grows old, and the process is gone.
#pragma once

#include "launch/SafeText.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace titan::rt {

struct RunStatus {
  std::string state = "running";
  int64_t step = 0;
  int exitStatus = 0;
  std::string message = {};
  struct Weights {
    int64_t bytes;
    uint32_t crc;
  };
  std::optional<Weights> weights = {};
};

/// What the status in `path` says of the weights beside it; nothing where it says nothing.
std::optional<RunStatus::Weights> readWeightsOfStatus(const std::string &path);

class StatusFile {
public:
  /// Nothing is written before the first status.
  StatusFile(std::string path, int64_t steps,
             std::chrono::milliseconds beat = std::chrono::seconds(20));
  ~StatusFile();
  StatusFile(const StatusFile &) = delete;
  StatusFile &operator=(const StatusFile &) = delete;

  /// Whether it could be written. A full disk takes it where there was a status before.
  bool write(RunStatus status);
  /// A step has ended, of which the next beat tells.
  void noteStep(int64_t step);
  /// For signal handlers: the state is `failed`.
  void writeFromHandler(int exitStatus, const SafeText &message);

private:
  void beat();
  bool writeNow();
  std::string describe() const;

  const std::string path, partial, crashed; // the latter two are renamed to the first
  const std::string host;
  const int64_t steps, started;
  const std::chrono::milliseconds interval;
  std::atomic<int64_t> step = 0, stepEnded = 0;
  std::atomic<bool> isOver = false; // a handler has written the last status
  std::atomic<bool> isWriting = false;

  std::mutex mutex; // of what follows
  std::condition_variable ending;
  bool isEnding = false;
  RunStatus current;
  std::thread heart;
};

/// What the status of a run that has ended without a word says of it, "after step 7 (process 12 on
/// a, last seen 2026-11-25 10:11:12 UTC)"; empty where it had its say.
std::string describeUnended(const std::string &path);

} // namespace titan::rt
