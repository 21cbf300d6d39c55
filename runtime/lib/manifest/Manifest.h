// The format of a checkpoint, except its tensors. The directory OUT/checkpoints/step-N contains
//   model-00001-of-00002.safetensors ...      parameters; model.safetensors.index.json lists them,
//                                             so other software can read them
//   optimizer-00001-of-00003.safetensors ...  optimizer state
//   checkpoint.json                           the manifest: step, seed, data position, the run that
//                                             wrote it, its data and tokenizer, and size and
//                                             checksum of every file
// It is written as step-N.partial and renamed when all its content is on the disk, so a directory
// with the final name is complete. The checksums reveal later damage. Nothing in it depends on the
// mesh.
//
// Errors: UserError naming the file.
#pragma once

#include "Identity.h"

#include <cstdint>
#include <string>
#include <vector>

namespace titan::rt {

struct Manifest {
  enum class Content { Parameters, Optimizer };
  struct File {
    std::string name;
    Content content;
    int64_t bytes = 0;
    uint32_t crc = 0; ///< CRC-32C
  };

  int64_t step = 0;           ///< completed
  uint64_t seed = 0;          ///< all random numbers are functions of the seed, names and the step
  int64_t sample = 0;         ///< the first that was not trained on
  int64_t samplesInEpoch = 0; ///< of the data, to detect other data
  std::string run;            ///< that wrote it; empty: unknown
  std::string model;          ///< fingerprint of the model that wrote it; empty: unknown
  std::vector<File> files;
  bool isFinite = true;   ///< the loss and the gradient norm of the step
  int64_t horizon = 0;    ///< the schedule's last step; 0: unknown
  Identity identity = {}; ///< empty lists: unknown

  /// Paths of the files with this content.
  std::vector<std::string> paths(const std::string &directory, Content content) const;
};

/// Whether there is a DIRECTORY/checkpoint.json.
bool isCheckpoint(const std::string &directory);

/// Reads and writes DIRECTORY/checkpoint.json, which contains its own checksum. The file may be
/// damaged or hostile: every field is checked, and an error names the file and the field.
/// `writeManifest` syncs the file content; `syncDirectory` makes its name durable.
Manifest readManifest(const std::string &directory);
void writeManifest(const std::string &directory, const Manifest &manifest);

/// Size and checksum of a file on disk.
struct Measured {
  int64_t bytes = 0;
  uint32_t crc = 0;
  int64_t error = 0; ///< why it cannot be read (lib/files/ReadFile.h); 0: none
};
/// Reads DIRECTORY/file.name; stops early if it is longer than a known `file.bytes`.
Measured measureFile(const std::string &directory, const Manifest::File &file);

/// The step of a directory named step-N, or -1.
int64_t readStep(const std::string &directory);

/// The steps of a run's directories step-N, newest first; empty without OUT/checkpoints. An
/// unreadable directory is an error.
std::vector<int64_t> listSteps(const std::string &runDirectory);
/// OUT/checkpoints/step-N.
std::string getCheckpointPath(const std::string &runDirectory, int64_t step);
/// The same as paths.
std::vector<std::string> listCheckpoints(const std::string &runDirectory);

/// Which checkpoints of a run stay.
struct Retention {
  int64_t keep = 0;      ///< the latest of each kind, finite or not; 0: all
  int64_t keepEvery = 0; ///< also finite ones of steps that it divides; 0: none
};

/// The checkpoints that need not stay. Those that are not finite never displace finite ones. An
/// unreadable checkpoint counts as not finite.
std::vector<std::string> surplusCheckpoints(const std::string &runDirectory,
                                            const Retention &retention);

/// The latest readable checkpoint with a finite loss, or an empty string.
std::string findLatestFinite(const std::string &runDirectory);

} // namespace titan::rt
