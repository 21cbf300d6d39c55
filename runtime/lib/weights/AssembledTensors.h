// The tensors of a torch.distributed.checkpoint (lib/interchange) as contiguous ones. One that is
// stored as a whole is read where it is. Others are put together when they are read; of integers
// and f64, at once.
#pragma once

#include "LazyTensor.h"
#include "interchange/DistributedCheckpoint.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace titan::rt {

class AssembledTensors {
public:
  explicit AssembledTensors(const std::string &directory) : source(directory) {
    for (const auto &[name, tensor] : source.tensors())
      if (!tensor.chunks.empty()) // empty tensors have no type
        add(name, tensor);
  }

  /// Adds all tensors, which stay valid.
  void addTo(std::map<std::string, const StoredTensor *> &byName) const;
  /// Null if the elements of the tensor are there.
  const LazyTensor *find(const std::string &name) const;
  /// Releases memory; elements are read again when they are required.
  void release() const;

private:
  void add(const std::string &name, const ChunkedTensor &tensor);

  DistributedCheckpoint source;
  std::map<std::string, StoredTensor> present;
  std::map<std::string, std::unique_ptr<LazyTensor>> lazy;
  std::vector<std::vector<std::byte>> memory;
};

} // namespace titan::rt
