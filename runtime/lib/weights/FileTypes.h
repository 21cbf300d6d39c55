// The element types of the tensors of files, by the names of the safetensors format ("BF16"), where
// they are not those of the program.
#pragma once

#include "base/files/Safetensors.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace titan::rt {

/// The element types that differ from those of the program.
struct FileTypes {
  std::map<std::string, std::string> known = {}; ///< by the name of the tensor
  std::string others = {};                       ///< of other tensors; empty: those of the program

  /// The type of a tensor whose elements have the type `own` in the program. Only floating-point
  /// types change.
  std::string find(const std::string &tensor, DType own) const;
};

/// The values of `tensor`, which have its program's type, in its stored type. `buffer` has them if
/// the types differ. Throws UserError with the tensor's name if a number is beyond the stored
/// type's range.
std::span<const std::byte> toStored(const TensorSpec &tensor, std::span<const std::byte> values,
                                    std::vector<std::byte> &buffer);

} // namespace titan::rt
