// Modules with one operation.
//
// Builds programs from a case, for passes and the interpreter.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "tests/ops/Case.h"

namespace titan::ops {

/// `shape` contains the degrees of the mesh axes `x`, `y`, ...; empty: no mesh.
mlir::OwningOpRef<mlir::ModuleOp> makeModule(mlir::MLIRContext *context,
                                             llvm::ArrayRef<int64_t> shape = {});

/// A function with the operation only. Operands and results have the shardings of `operands` and
/// `results`. Partial results are reduced, since a function must not return them.
mlir::func::FuncOp addFunction(mlir::ModuleOp module, const Case &c,
                               llvm::ArrayRef<ir::NamedTensorType> operands,
                               llvm::ArrayRef<ir::NamedTensorType> results);

/// A program `name` with the operation only; its inputs and outputs are named "0", "1", ...
void addProgram(mlir::ModuleOp module, const Case &c, llvm::StringRef name);

/// A train program: floating-point operands are parameters ("p0", "p1", ...). The loss is the sum
/// of the floating-point results, each weighted by a tensor of `weights` (null: not in the loss).
mlir::OwningOpRef<mlir::ModuleOp> makeTraining(mlir::MLIRContext *context, const Case &c,
                                               llvm::ArrayRef<const Tensor *> weights);

} // namespace titan::ops
