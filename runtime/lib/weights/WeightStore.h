// The weights that a path names, over one safetensors file or several.
#pragma once

#include "AssembledTensors.h"
#include "FileTypes.h"
#include "LazyTensor.h"
#include "StridedSource.h"
#include "base/files/Safetensors.h"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace titan::rt {

/// All weights under a path: one .safetensors file; a directory with model.safetensors; one with
/// model.safetensors.index.json and the files it names; one of torch.distributed.checkpoint; or the
/// directory of a run that has not finished, for its latest checkpoint. Or all weights of a list of
/// files; `root` then names them in messages. Quantized weights (QuantizedTensors.h) are tensors of
/// floating-point numbers here.
class WeightStore {
public:
  explicit WeightStore(const std::string &path);
  WeightStore(std::string root, const std::vector<std::string> &files);

  const std::string &path() const { return root; }
  /// The directory that contains the files, such as that of the run's latest checkpoint.
  std::string directory() const;
  /// Names of all tensors, sorted.
  std::vector<std::string> names() const;
  /// Null if there is no tensor of this name.
  const StoredTensor *find(const std::string &name) const;
  /// The quantized weights behind a tensor, whose bytes are computed when they are required; null
  /// for other tensors.
  const LazyTensor *findQuantized(const std::string &name) const;
  /// Computes all bytes of a tensor if it is one of the quantized tensors of this store.
  void requireElements(const StoredTensor *tensor) const;

  /// The tensor as numbers of `type`. Errors, by name, if there is none or its numbers are of
  /// another kind.
  StridedSource open(const std::string &name, DType type) const;
  /// Reads elements [first, first + count) of a tensor (row-major) into out (F32 or F64),
  /// converting from F64, F32, F16 or BF16. Another kind of type is an error by name.
  void readRange(const std::string &name, int64_t first, int64_t count, DType type,
                 void *out) const;

  /// Releases the memory of what was read of the files (MappedFile::release).
  void release() const;

  /// Errors, by name, unless the store holds exactly tensors of these names and shapes.
  void expectExactly(const std::map<std::string, std::vector<int64_t>> &shapes) const;

private:
  /// Whose elements are computed when they are required; null if they are there.
  const LazyTensor *findLazy(const std::string &name) const;

  std::string root;
  std::vector<std::unique_ptr<SafetensorsFile>> files;
  std::map<std::string, const StoredTensor *> byName;
  std::map<std::string, std::unique_ptr<LazyTensor>> quantized; ///< in `byName`, too
  std::unique_ptr<AssembledTensors> assembled; ///< of torch.distributed.checkpoint; or null
};

/// Divides tensors of these sizes, in their order, into files. Returns for each file the index
/// after its last tensor. A file has at most `shardBytes` bytes of tensors, but at least one
/// tensor.
std::vector<size_t> cutIntoShards(std::span<const int64_t> tensorBytes, int64_t shardBytes);

/// How tensors are divided into files.
struct ShardFiles {
  std::string directory, stem;
  int64_t bytes = 0; ///< of the tensors of a file, at most; but a file has at least one tensor
  /// A single file is STEM-00001-of-00001.safetensors, else STEM.safetensors: other software needs
  /// no index for it.
  bool numbersSingle = true;
  std::map<std::string, std::string> metadata = {{"format", "pt"}};
  FileTypes types = {};

  /// The name of file `number`, from 1, of `count`.
  std::string name(size_t number, size_t count) const;
};

/// One file of several, and the tensors in it.
struct Shard {
  struct Entry {
    std::string name;
    int64_t bytes;
    std::string type = {}; ///< of the elements, by the format's name
  };
  std::string file;
  std::vector<Entry> tensors;
};

/// Writes the index that lists the shards for other software: STEM.safetensors.index.json. One rank
/// calls it. Its name is durable once the caller has synced the folder.
void writeShardIndex(const std::string &directory, const std::string &stem,
                     const std::vector<Shard> &shards);

} // namespace titan::rt
