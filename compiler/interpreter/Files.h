//===- Files.h - Values in safetensors files --------------------*- C++ -*-===//
//
// Inputs and initial values may come from a file, and results go to one, in float64 or in whatever
// type the file has, so that the runtime and PyTorch can take part in comparisons.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_INTERPRETER_FILES_H
#define TITAN_COMPILER_INTERPRETER_FILES_H

#include "dialects/titan/Interfaces/TitanInterfaces.h"

#include <map>
#include <string>

namespace titan::interpreter {

/// All tensors of a file by name; prints what is wrong with the file and fails.
mlir::FailureOr<std::map<std::string, ir::HostTensor>> readTensors(const std::string &path);

/// Writes tensors as F64.
mlir::LogicalResult writeTensors(const std::string &path,
                                 const std::map<std::string, ir::HostTensor> &tensors);

} // namespace titan::interpreter

#endif // TITAN_COMPILER_INTERPRETER_FILES_H
