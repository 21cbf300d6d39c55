// The tensor type of a value.
#pragma once

#include "dialects/titan/IR/Titan.h"

namespace titan::ir {

/// All operands and results in a program are tensors with named dimensions.
inline NamedTensorType getTensorType(mlir::Value value) {
  return mlir::cast<NamedTensorType>(value.getType());
}

} // namespace titan::ir
