// A directory of torch.distributed.checkpoint: `.metadata`, a pickle, names the tensors and the
// positions of their pieces in files `__0_0.distcp`. Only data are read; a pickle that names an
// unknown function is refused (Pickle.h).
//
// Errors: UserError with the name of the file.
#pragma once

#include "base/files/MappedFile.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace titan::rt {

/// A tensor that is stored in boxes.
struct ChunkedTensor {
  struct Chunk {
    std::vector<int64_t> offsets, sizes; ///< of the box
    std::vector<int64_t> strides;        ///< in elements
    std::span<const std::byte> elements; ///< from the first one
  };
  std::string dtype; ///< by the names of safetensors: "F32"
  std::vector<int64_t> shape;
  /// Not empty boxes, which contain each element of the tensor once.
  std::vector<Chunk> chunks;
};

/// Whether the directory is one of torch.distributed.checkpoint.
bool isDistributedCheckpoint(const std::string &directory);

class DistributedCheckpoint {
public:
  explicit DistributedCheckpoint(const std::string &directory);

  /// By name. Values that are no tensors are left out.
  const std::map<std::string, ChunkedTensor> &tensors() const { return all; }
  void release() const;

private:
  std::map<std::string, std::unique_ptr<MappedFile>> files;
  std::map<std::string, ChunkedTensor> all;
};

} // namespace titan::rt
