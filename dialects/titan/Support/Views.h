// Values that share elements, and their names.
#pragma once

#include "dialects/titan/IR/Titan.h"

namespace titan::ir {

/// True for operations that rename the operand's elements without moving them: rename, split,
/// merge.
bool isView(mlir::Operation *op);

/// The value whose elements `value` renames; itself where no view gives it.
mlir::Value getRoot(mlir::Value value);

/// The name that the source gives `value`, or its operation's.
std::string getSourceName(mlir::Value value);

} // namespace titan::ir
