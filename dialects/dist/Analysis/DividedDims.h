//===- DividedDims.h - What a degree of the launch must divide --*- C++ -*-===//
//
// Where `auto` and other axes split one dimension, a program is compiled before its parts are known
// to be even. What the launch's degree leaves uneven must be refused then.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_DIST_ANALYSIS_DIVIDEDDIMS_H
#define TITAN_DIALECTS_DIST_ANALYSIS_DIVIDEDDIMS_H

#include "dialects/dist/IR/DistOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::dist {

/// A dimension of a value within a function, and the axes that split it together.
struct DividedDim {
  ir::DimAttr dim;
  mlir::ArrayAttr axes;
  mlir::Location location; ///< of the first operation that makes such a value
};

/// The dimensions that `axis` and others split of values within `functions`, each once, without
/// those that an argument or a result of a function has: these are known by name.
llvm::SmallVector<DividedDim> findDividedDims(llvm::ArrayRef<mlir::func::FuncOp> functions,
                                              mlir::StringAttr axis);

/// Refuses degrees that do not divide such a dimension of the module's programs, at the operation.
mlir::LogicalResult checkDividedDims(mlir::ModuleOp module, const Degrees &degrees);

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_ANALYSIS_DIVIDEDDIMS_H
