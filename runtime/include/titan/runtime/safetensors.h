// The safetensors format: eight bytes of little-endian header length, a JSON header
//   {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {...}}
// and the tensors' bytes, row-major and little-endian. The reader maps the file and checks every
// size, offset and type before it accesses data. A truncated or malicious file is an error, never a
// crash. A rank reads only its slices.
//
// Errors: UserError "FILE: reason"; the writer throws Fault if the disk is full or fails.
#pragma once

#include "titan/runtime/dtype.h"
#include "titan/runtime/mapped_file.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace titan::rt {

/// One tensor of a file. `dtype` is the format's name ("F32", "BF16", ...).
struct StoredTensor {
  std::string dtype;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;
};

class SafetensorsFile {
public:
  explicit SafetensorsFile(const std::string &path);

  const std::string &path() const { return file.path(); }
  const std::map<std::string, StoredTensor> &tensors() const { return byName; }
  const std::map<std::string, std::string> &metadata() const { return meta; }
  void release() const { file.release(); }

private:
  MappedFile file;
  std::map<std::string, StoredTensor> byName;
  std::map<std::string, std::string> meta;
};

/// All weights under a path: a .safetensors file; a directory with model.safetensors; a directory
/// with model.safetensors.index.json and its files; or the directory of an unfinished run, which
/// selects its latest checkpoint. Alternatively a list of files, which `root` names in messages.
class WeightStore {
public:
  explicit WeightStore(const std::string &path);
  WeightStore(std::string root, const std::vector<std::string> &files);

  const std::string &path() const { return root; }
  /// The directory of the files that `path` selects.
  std::string directory() const;
  /// Names of all tensors, sorted.
  std::vector<std::string> names() const;
  /// Null if there is no tensor of this name.
  const StoredTensor *find(const std::string &name) const;

  /// Reads elements [first, first + count) of a tensor (row-major) into out (F32 or F64),
  /// converting from F64, F32, F16 or BF16. Other types are an error that names the tensor.
  void readRange(const std::string &name, int64_t first, int64_t count, DType type,
                 void *out) const;

  /// Releases the pages that were read (MappedFile::release).
  void release() const;

  /// Errors, by name, unless the store contains exactly tensors of these names and shapes.
  void expectExactly(const std::map<std::string, std::vector<int64_t>> &shapes) const;

private:
  std::string root;
  std::vector<std::unique_ptr<SafetensorsFile>> files;
  std::map<std::string, const StoredTensor *> byName;
};

/// Division of tensors, in order, into files: the ends of the files. A file has at most
/// `shardBytes` bytes, but at least one tensor.
std::vector<size_t> cutIntoShards(std::span<const int64_t> tensorBytes, int64_t shardBytes);

/// One of several files, with its tensors and their bytes.
struct Shard {
  std::string file;
  std::vector<std::pair<std::string, int64_t>> tensors;
};

/// Writes the index STEM.safetensors.index.json for other software. One rank calls it. Its name is
/// durable after the caller syncs the folder.
void writeShardIndex(const std::string &directory, const std::string &stem,
                     const std::vector<Shard> &shards);

/// A tensor to be written.
struct TensorSpec {
  std::string name;
  DType type = DType::F32;
  std::vector<int64_t> shape;
};

class PendingFile; // lib/files/DurableFile.h

/// Writes one file: the specs fix the layout; tensors then arrive in any order and in slices, from
/// one or several processes. The file appears under its name only when it is complete (finish), so
/// readers never see a partial file.
class SafetensorsWriter {
public:
  /// One process creates the file; others, with the same specs, join it once it exists.
  enum class Role { Create, Join };
  SafetensorsWriter(const std::string &path, const std::vector<TensorSpec> &tensors,
                    const std::map<std::string, std::string> &metadata = {},
                    Role role = Role::Create);
  ~SafetensorsWriter();
  SafetensorsWriter(const SafetensorsWriter &) = delete;
  SafetensorsWriter &operator=(const SafetensorsWriter &) = delete;

  /// Writes bytes [byteOffset, byteOffset + data.size()) of tensor number `index` of the specs.
  void write(size_t index, int64_t byteOffset, std::span<const std::byte> data);
  /// Syncs. The creator also renames the file, so it calls finish last. The name is durable after
  /// the caller syncs the folder.
  void finish();

private:
  Role role;
  std::unique_ptr<PendingFile> file;
  std::vector<int64_t> begins;
};

} // namespace titan::rt
