// The safetensors format: eight bytes of little-endian header length, a JSON header
//   {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {...}}
// and the tensors' bytes, row-major and little-endian. The reader maps the file and checks every
// size, offset and type before it accesses data. A truncated or malicious file is an error, never a
// crash. A rank reads only its slices.
//
// Errors: UserError "FILE: reason"; the writer throws Fault if the disk is full or fails.
#pragma once

#include "base/data/DType.h"
#include "base/files/MappedFile.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace titan {

/// The bytes of an element of a type of the format ("F32", "BF16", ...); nothing for an unknown
/// type.
std::optional<int64_t> storedBytes(const std::string &dtype);

/// One tensor of a file. `dtype` is the format's name ("F32", "BF16", ...).
struct StoredTensor {
  std::string dtype;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;
};

class SafetensorsFile {
public:
  /// `checksTruncation`: as of MappedFile.
  explicit SafetensorsFile(const std::string &path, bool checksTruncation = false);

  const std::string &path() const { return file.path(); }
  const std::map<std::string, StoredTensor> &tensors() const { return byName; }
  const std::map<std::string, std::string> &metadata() const { return meta; }
  void release() const { file.release(); }
  const MappedFile &mapping() const { return file; }

private:
  MappedFile file;
  std::map<std::string, StoredTensor> byName;
  std::map<std::string, std::string> meta;
};

/// A tensor to be written.
struct TensorSpec {
  std::string name;
  DType type = DType::F32;
  std::vector<int64_t> shape;
  std::string stored = {}; ///< the format's name of the elements' type; empty: that of `type`
};

/// The format's name of a type.
const char *getStoredName(DType type);

class PendingFile; // DurableFile.h

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
  /// Several threads may write.
  void write(size_t index, int64_t byteOffset, std::span<const std::byte> data);
  /// Syncs what this process has written, which may take long. From any thread.
  void sync();
  /// Syncs if nothing was synced since the last write. The creator also renames the file, so it
  /// calls finish last. The name is durable after the caller syncs the folder.
  void finish();

private:
  Role role;
  std::unique_ptr<PendingFile> file;
  std::vector<int64_t> begins; ///< of each tensor in the file, then the size of the file
  std::atomic<bool> isSynced = false;
};

} // namespace titan
