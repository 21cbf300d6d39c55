// Tensors in safetensors files.
//
// Inputs and initial values may come from a file in any supported type; results are written as
// float64. Comparisons with the runtime and PyTorch use these files.
#pragma once

#include "dialects/titan/Interfaces/TitanInterfaces.h"

#include <map>
#include <string>

namespace titan::interpreter {

/// All tensors of a file by name. Prints an error and fails if the file is invalid.
mlir::FailureOr<std::map<std::string, ir::HostTensor>> readTensors(const std::string &path);

/// Writes tensors as F64.
mlir::LogicalResult writeTensors(const std::string &path,
                                 const std::map<std::string, ir::HostTensor> &tensors);

} // namespace titan::interpreter
