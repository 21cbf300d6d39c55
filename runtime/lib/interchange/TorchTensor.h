// One tensor as `torch.save` writes it: a zip archive without compression that contains a pickle
// and the bytes of the elements. In reading, the pickle is not executed (Pickle.h).
//
// Errors: UserError with the name of the file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
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

/// The archive of a tensor of these row-major elements, with what precedes and follows them. The
/// elements must have less than 2^32 bytes; `dtype` is a type that safetensors has.
struct TorchArchive {
  std::string head, tail;
};
TorchArchive makeTorchArchive(std::string_view dtype, std::span<const int64_t> shape,
                              std::span<const std::byte> elements);

} // namespace titan::rt
