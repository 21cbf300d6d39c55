// Dimensions that a launch degree must divide.
//
// A dimension may be sharded by the `auto` axis and others. Whether the product of the degrees
// divides it is known at launch only, and the launch must refuse degrees that do not.
#pragma once

#include "dialects/dist/IR/DistOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace titan::dist {

/// A dimension of a value, and all axes that shard it.
struct DividedDim {
  ir::DimAttr dim;
  mlir::ArrayAttr axes;
  mlir::StringAttr headTailAxis; ///< the one of `axes` in head-tail order; null: none
  mlir::Location location;       ///< of the first operation with such a value
};

/// The dimensions of values in `functions` that `axis` and other axes shard, each once. Dimensions
/// of arguments and results are omitted, because they are checked by name.
llvm::SmallVector<DividedDim> findDividedDims(llvm::ArrayRef<mlir::func::FuncOp> functions,
                                              mlir::StringAttr axis);

/// Reports each such dimension of the module's programs that `degrees` do not divide.
mlir::LogicalResult checkDividedDims(mlir::ModuleOp module, const Degrees &degrees);

} // namespace titan::dist
