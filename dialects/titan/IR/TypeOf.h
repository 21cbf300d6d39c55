//===- TypeOf.h - The tensor type of a value --------------------*- C++ -*-===//

#ifndef TITAN_DIALECTS_TITAN_IR_TYPEOF_H
#define TITAN_DIALECTS_TITAN_IR_TYPEOF_H

#include "dialects/titan/IR/Titan.h"

namespace titan::ir {

/// All operands and results in a program are tensors with named dimensions.
inline NamedTensorType typeOf(mlir::Value value) {
  return mlir::cast<NamedTensorType>(value.getType());
}

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_IR_TYPEOF_H
