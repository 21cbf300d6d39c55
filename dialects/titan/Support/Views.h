// Values that share elements, and their names.
#pragma once

#include "dialects/titan/IR/Titan.h"

namespace titan::ir {

/// True for operations that rename the operand's elements without moving them: rename, split,
/// merge.
bool isView(mlir::Operation *op);

/// The operand of the first of the consecutive views that result in `value`; `value` itself if it
/// is not the result of a view.
mlir::Value getRoot(mlir::Value value);

/// The name of `value` in the `.titan` source; without a name, that of its operation or, for an
/// argument of a program function, of its role.
std::string getSourceName(mlir::Value value);

/// The name of an operation in reports and profiles: "contract wgrad" for a `titan.contract` of the
/// weight gradient.
std::string getAction(mlir::Operation *op);

} // namespace titan::ir
