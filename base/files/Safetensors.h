// Weights in the safetensors format: eight bytes of little-endian header length, a JSON header
//   {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {...}}
// and the tensors' bytes, row-major and little-endian. The reader maps the file and trusts nothing:
// every size, offset and type is checked before a byte of data is touched, so a truncated or
// hostile file is an error, never a crash. Slices are read without reading the rest, so a rank
// pays only for what it owns.
//
// Errors: UserError "FILE: reason"; the writer throws Fault where the disk is full or fails.
#pragma once

#include "base/data/DType.h"
#include "base/files/MappedFile.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace titan {

/// One tensor of a file. `dtype` is the format's own name ("F32", "BF16", ...).
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

/// A tensor to be written.
struct TensorSpec {
  std::string name;
  DType type = DType::F32;
  std::vector<int64_t> shape;
};

class PendingFile; // DurableFile.h

/// Writes one file: the layout is fixed by the specs at once, then tensors arrive in any order and
/// in parts, from one process or several. The file appears under its name only when it is complete
/// (finish), so that a reader never meets half of one.
class SafetensorsWriter {
public:
  /// One process creates the file; the others, with the same specs, join it once it exists.
  enum class Role { Create, Join };
  SafetensorsWriter(const std::string &path, const std::vector<TensorSpec> &tensors,
                    const std::map<std::string, std::string> &metadata = {},
                    Role role = Role::Create);
  ~SafetensorsWriter();
  SafetensorsWriter(const SafetensorsWriter &) = delete;
  SafetensorsWriter &operator=(const SafetensorsWriter &) = delete;

  /// Bytes [byteOffset, byteOffset + data.size()) of tensor number `index` of the specs.
  void write(size_t index, int64_t byteOffset, std::span<const std::byte> data);
  /// Syncs; the creator also renames into place, so it comes last. The name is durable once the
  /// caller has synced the folder.
  void finish();

private:
  Role role;
  std::unique_ptr<PendingFile> file;
  std::vector<int64_t> begins;
};

} // namespace titan
