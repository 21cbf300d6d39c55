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
  std::vector<File> files;
  bool isFinite = true; ///< the loss and the gradient's norm of the step
  int64_t horizon = 0;  ///< the schedule's last step; 0: not known

  /// Paths of the files with this content.
  std::vector<std::string> paths(const std::string &directory, Content content) const;
};

/// Whether there is a DIRECTORY/checkpoint.json.
bool isCheckpoint(const std::string &directory);

/// Reads and writes DIRECTORY/checkpoint.json, which has a checksum of its own.
Manifest readManifest(const std::string &directory);
void writeManifest(const std::string &directory, const Manifest &manifest);

/// Size and checksum of DIRECTORY/file.name as they are on disk.
Manifest::File measureFile(const std::string &directory, const Manifest::File &file);

/// The directories step-N of a run, newest first.
std::vector<std::string> listCheckpoints(const std::string &runDirectory);

/// Checkpoints of a run that are not among the latest `keep` of their kind, whose losses are finite
/// or are not: the latter never take the place of the former. What cannot be read counts as not
/// finite. `keep` 0: none.
std::vector<std::string> surplusCheckpoints(const std::string &runDirectory, int64_t keep);

/// The latest checkpoint of a run that can be read and whose loss is finite, or an empty string.
std::string latestFinite(const std::string &runDirectory);

} // namespace titan::rt
