//===- Programs.h - Finding what a program function takes and gives -*- C++ -*-===//
//
// Arguments and results of program functions carry their roles as attributes (docs/design.md).
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_PROGRAMS_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_PROGRAMS_H

#include "dialects/titan/IR/Titan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace titan::ir {

/// The functions with `titan.program = "train"`.
llvm::SmallVector<mlir::func::FuncOp> getTrainPrograms(mlir::ModuleOp module);

/// Argument `index` is a parameter that is trained: it has a name and is neither frozen nor a
/// buffer.
bool isTrained(mlir::func::FuncOp function, unsigned index);

/// What a step minimises is the output "loss"; where a model has losses with names it is their sum,
/// and each is an output besides, "loss.NAME"; "loss." is the summand without a name.
std::string getLossOutput(llvm::StringRef name);
bool isLossOutput(llvm::StringRef output);

/// The first argument (result) whose string attribute `key` is `name`.
std::optional<unsigned> findArgument(mlir::func::FuncOp function, llvm::StringRef key,
                                     llvm::StringRef name);
std::optional<unsigned> findResult(mlir::func::FuncOp function, llvm::StringRef key,
                                   llvm::StringRef name);

/// Appends a result: its value to the return, its type and attributes to the function.
void appendResult(mlir::func::FuncOp function, mlir::Value value,
                  llvm::ArrayRef<mlir::NamedAttribute> attributes);

/// Holds if each argument that `isUpdated` says is replaced by exactly one result of its type
/// (`titan.updates`), and no other is; else an error that cites `constraint`.
mlir::LogicalResult verifyUpdates(mlir::func::FuncOp function, llvm::StringRef constraint,
                                  llvm::function_ref<bool(unsigned)> isUpdated);

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_PROGRAMS_H
