// Writes a directory of torch.distributed.checkpoint, which PyTorch loads (`dcp.load`): `.distcp`
// files of tensors, and `.metadata`, a pickle that names classes of PyTorch only. A directory
// without
// `.metadata` is no checkpoint, so that file comes last.
//
// Errors: UserError for types that PyTorch's archives lack; Fault if a file cannot be written.
#pragma once

#include "base/files/DurableFile.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace titan::rt {

class DistributedCheckpointWriter {
public:
  /// Whether the writer made a file of this name in some directory.
  static bool isFile(std::string_view name);

  /// Tensors of more bytes are divided along their first dimension: archives have fields of 32
  /// bits.
  static constexpr int64_t largestChunk = int64_t{1} << 30;

  explicit DistributedCheckpointWriter(std::string directory, int64_t chunkBytes = largestChunk);

  /// Adds a whole tensor, row-major; `dtype` by the names of safetensors.
  void add(const std::string &name, std::string_view dtype, const std::vector<int64_t> &shape,
           std::span<const std::byte> elements);
  /// Completes the files and writes the metadata, durably.
  void finish();

private:
  /// A part of a tensor, and where it is.
  struct Chunk {
    std::vector<int64_t> offsets, sizes;
    std::string file;
    int64_t offset, length;
  };
  struct Entry {
    std::string name, dtype;
    std::vector<int64_t> shape;
    std::vector<Chunk> chunks;
  };
  void beginFile();
  void endFile();
  std::string makeMetadata() const;

  std::string directory;
  int64_t chunkBytes;
  std::vector<Entry> entries;
  std::unique_ptr<PendingFile> file;
  std::string fileName;
  int64_t fileBytes = 0;
  int numFiles = 0;
};

} // namespace titan::rt
