// A safetensors file that all ranks write together: each writes its shards, wherever in the file
// they are. The steps are separate, so that a caller can do some of them in another thread.
//
//   open     the first rank, then the others; the first rank has created the file before
//   stage    optional: from then on the tensors may change, and the file gets the copies
//   write    each of `written`, in any order, by any thread
//   sync     by any thread
//   finish   the other ranks, then the first, which gives the file its name
//
// Between the steps of the first rank and those of others, the caller waits for all ranks. Errors:
// Fault if the file cannot be written.
#pragma once

#include "FileTensors.h"

#include "base/files/Safetensors.h"
#include "weights/WeightStore.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace titan::rt {

class SharedFile {
public:
  SharedFile(Executor &executor, std::string path, std::vector<FileTensor> tensors,
             std::map<std::string, std::string> metadata, const FileTypes &types = {});

  void open();

  /// The indices of the tensors of which this rank writes a shard.
  const std::vector<size_t> &written() const { return own; }
  /// The bytes of these shards, each at a multiple of 64.
  int64_t stagedBytes() const;
  /// Copies the shards to `memory` of the host, of `stagedBytes`, by all threads.
  void stage(std::byte *memory);

  void write(size_t index);
  void sync() { writer->sync(); }
  void finish();

private:
  void writeFrom(size_t index, const std::byte *shard);

  Executor &executor;
  std::string path;
  std::vector<FileTensor> tensors;
  std::vector<TensorSpec> specs;
  std::map<std::string, std::string> metadata;
  std::vector<size_t> own;
  std::vector<const std::byte *> staged; ///< by tensor; empty: not staged
  std::optional<SafetensorsWriter> writer;
};

/// Tensors of these roles divided into files: what saveShards writes. The first of the pair has the
/// names and sizes of the tensors in the file.
struct PlannedFile {
  Shard shard;
  std::vector<FileTensor> tensors;
};
std::vector<PlannedFile> planShards(Executor &executor, const ShardFiles &files,
                                    std::span<const Role> roles);

} // namespace titan::rt
