// Arguments and results of program functions.
//
// The roles of arguments and results are attributes (docs/design.md).
#pragma once

#include "dialects/titan/IR/Titan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace titan::ir {

/// Whether the function has a body and `titan.program = "train"`, or is a turn of it
/// (`titan.turn`).
bool isTrainProgram(mlir::func::FuncOp function);

/// The train programs of a module.
llvm::SmallVector<mlir::func::FuncOp> getTrainPrograms(mlir::ModuleOp module);

/// The scalar of a program of generation: the position of the first row of its chunk.
inline constexpr llvm::StringLiteral kPositionScalar = "position";

/// The program that computes one position of each of several texts, and the one that gives a text a
/// slot of its caches. No axis shards the slots: their dimension has a name of its own.
inline constexpr llvm::StringLiteral kBatchProgram = "decode_batch";
inline constexpr llvm::StringLiteral kAdmitProgram = "admit";
inline constexpr llvm::StringLiteral kSlotDim = "batch.slots";
/// The position of the text in each slot; the slot of the admitted text.
inline constexpr llvm::StringLiteral kSlotPositionsScalar = "slot_positions";
inline constexpr llvm::StringLiteral kSlotScalar = "slot";

/// Whether the scalar of this name is one of programs of generation.
bool isGenerationScalar(llvm::StringRef name);
/// Whether an argument of a program of generation belongs to the slots.
bool isOfSlots(mlir::func::FuncOp function, unsigned argument);

/// The scalar with the learning rate of a schedule: "lr" of the run's (null), "lr.NAME" of another.
std::string getRateScalar(mlir::FlatSymbolRefAttr schedule);

/// The size of the dimension of positions (`titan.data_dims`) in the inputs of a program; 0 if none
/// has it.
int64_t countPositions(mlir::func::FuncOp function);

/// Whether argument `index` is a trained parameter: a parameter that is neither frozen nor a
/// buffer.
bool isTrained(mlir::func::FuncOp function, unsigned index);

/// The name of the output for the loss `name`. A step minimises the output "loss". If a model has
/// named losses, "loss" is the sum of the outputs "loss.NAME"; "loss." is the term without a name.
std::string getLossOutput(llvm::StringRef name);
bool isLossOutput(llvm::StringRef output);

/// The name of the output for the metric `name`.
std::string getMetricOutput(llvm::StringRef name);
bool isMetricOutput(llvm::StringRef output);

/// The first argument or result whose string attribute `key` equals `name`.
std::optional<unsigned> findArgument(mlir::func::FuncOp function, llvm::StringRef key,
                                     llvm::StringRef name);
std::optional<unsigned> findResult(mlir::func::FuncOp function, llvm::StringRef key,
                                   llvm::StringRef name);

/// The result with the gradient of parameter `index`: it has the parameter's name and stage.
std::optional<unsigned> findGradient(mlir::func::FuncOp function, unsigned index);

/// The attributes by which results and states that belong to argument `index` have its slots:
/// `titan.stacked` and `titan.stage`, as far as the argument has them.
llvm::SmallVector<mlir::NamedAttribute> getSlotAttributes(mlir::func::FuncOp function,
                                                          unsigned index);

/// A value to return, with the attributes of its result.
struct ReturnedValue {
  mlir::Value value;
  llvm::SmallVector<mlir::NamedAttribute> attributes;
};

/// Appends values to the return, and their types and attributes to the function. Every change of a
/// function's type takes time in proportion to all its results, so many values are appended at
/// once.
void appendResults(mlir::func::FuncOp function, llvm::ArrayRef<ReturnedValue> returned);
void appendResult(mlir::func::FuncOp function, mlir::Value value,
                  llvm::ArrayRef<mlir::NamedAttribute> attributes);

/// Checks that exactly one result of the same type replaces (`titan.updates`) each argument for
/// which `isUpdated` is true, and none the others. An error cites `constraint`.
mlir::LogicalResult verifyUpdates(mlir::func::FuncOp function, llvm::StringRef constraint,
                                  llvm::function_ref<bool(unsigned)> isUpdated);

} // namespace titan::ir
