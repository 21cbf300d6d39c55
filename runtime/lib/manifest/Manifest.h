// What a checkpoint is on disk, apart from the tensors in it. The directory OUT/checkpoints/step-N
// holds
//   model-00001-of-00002.safetensors ...      parameters; model.safetensors.index.json lists them,
//                                             so that other software reads them too
//   optimizer-00001-of-00003.safetensors ...  optimizer state
//   checkpoint.json                           the manifest: step, seed, position in the data, the
//                                             run that wrote it, and size and checksum of
//                                             every file
// It is written as step-N.partial and renamed when everything in it has reached the disk, so a
// directory of the right name is complete; what is damaged later, the checksums tell. Nothing in it
// depends on the mesh.
//
// Errors: UserError naming the file.
#pragma once

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

  int64_t step = 0;           ///< done
  uint64_t seed = 0;          ///< all random numbers are functions of it, names and the step
  int64_t sample = 0;         ///< the first that was not trained on
  int64_t samplesInEpoch = 0; ///< of the data, to notice others
  std::string run;            ///< which wrote it; empty: not known
  std::string model;          ///< fingerprint of the model that wrote it; empty: not known
  std::vector<File> files;
  bool isFinite = true; ///< the loss and the gradient's norm of the step
  int64_t horizon = 0;  ///< the schedule's last step; 0: not known

  /// Paths of the files with this content.
  std::vector<std::string> paths(const std::string &directory, Content content) const;
};

/// Whether there is a DIRECTORY/checkpoint.json.
bool isCheckpoint(const std::string &directory);

/// Reads and writes DIRECTORY/checkpoint.json, which has a checksum of its own. It may be damaged
/// or hostile: every field is checked, and an error names the file and the field. `writeManifest`
/// syncs the file; its name is durable with those of the other files, by `syncDirectory`.
Manifest readManifest(const std::string &directory);
void writeManifest(const std::string &directory, const Manifest &manifest);

/// Size and checksum of a file as they are on disk.
struct Measured {
  int64_t bytes = 0;
  uint32_t crc = 0;
  int64_t error = 0; ///< why it cannot be read (lib/files/ReadFile.h); 0: it can
};
/// Reads DIRECTORY/file.name; of one that is longer than `file.bytes`, if that is known, not all.
Measured measureFile(const std::string &directory, const Manifest::File &file);

/// The step of a directory named step-N, or -1.
int64_t stepOfDirectory(const std::string &directory);

/// The steps of the directories step-N of a run, newest first; none where there is no
/// OUT/checkpoints. One that is there and cannot be read is an error.
std::vector<int64_t> listSteps(const std::string &runDirectory);
/// OUT/checkpoints/step-N.
std::string checkpointOfStep(const std::string &runDirectory, int64_t step);
/// The same as paths.
std::vector<std::string> listCheckpoints(const std::string &runDirectory);

/// Checkpoints of a run that are not among the latest `keep` of their kind, whose losses are finite
/// or are not: the latter never take the place of the former. What cannot be read counts as not
/// finite. `keep` 0: none.
std::vector<std::string> surplusCheckpoints(const std::string &runDirectory, int64_t keep);

/// The latest checkpoint of a run that can be read and whose loss is finite, or an empty string.
std::string latestFinite(const std::string &runDirectory);

} // namespace titan::rt
