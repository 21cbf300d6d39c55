// One tensor as `torch.save` writes it: a zip archive without compression that contains a pickle
// and the bytes of the elements. The pickle is not executed (Pickle.h).
//
// Errors: UserError with the name of the file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace titan::rt {

struct TorchTensor {
  std::string dtype; ///< by the names of safetensors: "F32"
  std::vector<int64_t> shape;
  std::vector<int64_t> strides; ///< in elements
  /// From the first element to the end of the storage; within it are all elements.
  std::span<const std::byte> elements;
};

/// `archive` must outlive the result. `name` is that of the file, for messages.
TorchTensor readTorchTensor(const std::string &name, std::span<const std::byte> archive);

} // namespace titan::rt
