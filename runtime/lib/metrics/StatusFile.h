// status.json: the state of a run, for people and programs that watch a queue.
//
//   state        running, finished, stopped (by a signal, after saving), nonfinite (a loss that is
//                not finite) or failed
//   step, steps  completed, and total
//   exit_status  the exit status of the process, since launchers merge it
//   message      why it is no longer running
//   weights      size and CRC-32C of model.safetensors, once the run has written it
//   pid, host, started   the process that writes the file
//   updated      when it was written: at least every 20 seconds while the process lives
//   step_ended   when the latest step ended
//
// The last status of a run survives a power failure; earlier ones may not, because steps do not
// wait for the disk. Times are seconds since 1970. A killed process (SIGKILL) leaves `running` and
// an old `updated`.
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

/// The weights that the status in `path` describes; empty if it describes none.
std::optional<RunStatus::Weights> readWeightsOfStatus(const std::string &path);

class StatusFile {
public:
  /// `beat` is the time between heartbeats, which rewrite the file. Writes nothing before the first
  /// status.
  StatusFile(std::string path, int64_t steps,
             std::chrono::milliseconds beat = std::chrono::seconds(20));
  ~StatusFile();
  StatusFile(const StatusFile &) = delete;
  StatusFile &operator=(const StatusFile &) = delete;

  /// Returns whether it was written. On a full disk, an existing status is overwritten.
  bool write(RunStatus status);
  /// Records a completed step for the next heartbeat.
  void noteStep(int64_t step);
  /// For signal handlers: writes the state `failed`.
  void writeFromHandler(int exitStatus, const SafeText &message);

private:
  /// Runs the heartbeat thread.
  void beat();
  /// Writes `current`; returns whether that succeeded.
  bool writeNow();
  std::string toJson() const;

  const std::string path, partial, crashed; // the latter two are renamed to the first
  const std::string host;
  const int64_t steps, started;
  const std::chrono::milliseconds interval;
  std::atomic<int64_t> step = 0, stepEnded = 0;
  std::atomic<bool> isOver = false; // a handler has written the last status
  std::atomic<bool> isWriting = false;

  std::mutex mutex; // guards the members below
  std::condition_variable ending;
  bool isEnding = false;
  RunStatus current;
  std::thread heart;
};

/// A description of a run that ended without a final status: "after step 7 (process 12 on a, last
/// seen 2026-11-25 10:11:12 UTC)"; empty if it has one.
std::string describeUnended(const std::string &path);

} // namespace titan::rt
