// Saves the checkpoints of a run, one at a time: at once, or beside the following steps
// (`checkpoint.mode`). docs/rationale/asynchronous-checkpoints.md explains the phases.
//
// In the background, a checkpoint is of the step at which it began, since its tensors were copied
// then. Until it is complete on all ranks it has a temporary name, and earlier checkpoints stay.
#pragma once

#include "settings/Settings.h"
#include "state/Executor.h"
#include "state/SharedFile.h"

#include "manifest/Manifest.h"
#include "threads/BackgroundWork.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace titan::rt {

/// Memory of the host for the copy of a rank's shards.
class StagingMemory {
public:
  explicit StagingMemory(Device &device) : device(device) {}
  ~StagingMemory();
  StagingMemory(const StagingMemory &) = delete;
  StagingMemory &operator=(const StagingMemory &) = delete;

  /// Memory of at least `bytes`, with all its pages, valid until a call with more.
  std::byte *require(int64_t bytes);

private:
  Device &device;
  std::byte *memory = nullptr;
  int64_t size = 0;
};

class CheckpointWriter {
public:
  CheckpointWriter(Executor &executor, const Settings &settings, std::string runDirectory);

  /// Begins to save parameters and optimizer state as `runDirectory`/checkpoints/step-N, and ends
  /// it, too, unless checkpoints are saved in the background. `position` describes the progress of
  /// the run. The first rank calls `beforeCommit` before the checkpoint gets its name, possibly in
  /// another thread. Waits for the previous checkpoint. Collective.
  ///
  /// When the checkpoint is durable, archives checkpoints of later steps. Then removes the oldest
  /// ones: it keeps the latest `checkpoint.keep` with a finite loss, as many with a non-finite one,
  /// and all of steps that `checkpoint.keep_every` divides. With `checkpoint.keep` 0, it removes
  /// none.
  void begin(Manifest position, std::function<void()> beforeCommit);

  /// Whether a checkpoint has begun and is not complete. Equal on all ranks.
  bool isSaving() const { return phase != Phase::None; }
  /// Whether this rank has nothing left to do in the current phase. Throws a Fault of the
  /// background.
  bool isReady() { return work.isDone(); }
  /// Begins the next phase. All ranks must be ready. Collective.
  void advance();
  /// Completes the checkpoint, if any. Collective.
  void finish();

private:
  enum class Phase {
    None,
    Write,   // all ranks write their shards
    Sync,    // all ranks sync what they wrote
    Measure, // all ranks read back some files for their checksums
    Commit   // the first rank writes the manifest and publishes
  };
  void planFiles();
  int64_t countStagedBytes() const;
  void openFiles();
  void stage();
  void beginPhase(Phase begun, std::vector<BackgroundWork::Task> tasks);
  std::vector<BackgroundWork::Task> listWrites();
  std::vector<BackgroundWork::Task> listSyncs();
  void nameFiles();
  std::vector<BackgroundWork::Task> listMeasurements();
  std::vector<BackgroundWork::Task> listCommit();
  void commit();
  /// Waits until all ranks are ready.
  void waitForRanks();

  Executor &executor;
  const std::string runDirectory;
  const Retention retention;
  const bool isInBackground;
  StagingMemory staging;

  // Of the checkpoint that is being saved
  Phase phase = Phase::None;
  Manifest manifest;
  std::string partial; // its directory until the end
  std::function<void()> beforeCommit;
  std::vector<std::unique_ptr<SharedFile>> files;
  std::vector<Shard> model;       // of the index
  std::vector<Measured> measured; // by this rank, then by all

  BackgroundWork work; // last: its thread uses the others
};

} // namespace titan::rt
