//===- Programs.h - Modules around one operation ----------------*- C++ -*-===//
//
// A case as a program that the compiler's passes and the interpreter take.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_TESTS_OPS_PROGRAMS_H
#define TITAN_TESTS_OPS_PROGRAMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "tests/ops/Case.h"

namespace titan::ops {

/// `shape` has the degrees of the mesh's axes `x`, `y`, ...; empty: no mesh.
mlir::OwningOpRef<mlir::ModuleOp> makeModule(mlir::MLIRContext *context,
                                             llvm::ArrayRef<int64_t> shape = {});

/// A function that is the operation alone, its operands and results lying as `operands` and
/// `results` say. Partial results are reduced, since none may leave a function.
mlir::func::FuncOp addFunction(mlir::ModuleOp module, const Case &c,
                               llvm::ArrayRef<ir::NamedTensorType> operands,
                               llvm::ArrayRef<ir::NamedTensorType> results);

/// A program `name` that is the operation alone; operands and results are its inputs and outputs
/// "0", "1", ...
void addProgram(mlir::ModuleOp module, const Case &c, llvm::StringRef name);

/// A training program `@train`: operands are parameters where real ("p0", "p1", ...), and the loss
/// is the sum of all real results, each weighed by a tensor of `weights` (null: not in the loss).
mlir::OwningOpRef<mlir::ModuleOp> makeTraining(mlir::MLIRContext *context, const Case &c,
                                               llvm::ArrayRef<const Tensor *> weights);

} // namespace titan::ops

#endif // TITAN_TESTS_OPS_PROGRAMS_H
