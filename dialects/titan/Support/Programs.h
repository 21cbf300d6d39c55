// Arguments and results of program functions.
//
// A program function (`@train`, `@eval`, `@decode`, ...) is an entry point of the compiled program.
// Attributes state the roles of its arguments and results: parameter, optimizer state, input,
// scalar, output (docs/design.md, Program functions).
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

/// The name of a scalar argument of programs of generation: the position of a chunk's first row.
inline constexpr llvm::StringLiteral kPositionScalar = "position";

/// The program that computes one position of each of several texts. Each text has one slot in the
/// program's caches. The second program copies the caches of one text to a slot. The name of the
/// dimension of slots is in no axis rules, so that no axis shards it.
inline constexpr llvm::StringLiteral kBatchProgram = "decode_batch";
inline constexpr llvm::StringLiteral kAdmitProgram = "admit";
inline constexpr llvm::StringLiteral kSlotDim = "batch.slots";
/// The names of two scalars: the position of the text in each slot, and the slot of the admitted
/// text.
inline constexpr llvm::StringLiteral kSlotPositionsScalar = "slot_positions";
inline constexpr llvm::StringLiteral kSlotScalar = "slot";

/// Whether this is the name of a scalar that programs of generation have.
bool isGenerationScalar(llvm::StringRef name);
/// Whether an argument of a program of generation has the dimension of the slots, or is the number
/// of a slot.
bool isOfSlots(mlir::func::FuncOp function, unsigned argument);

/// The name of the scalar with the learning rate of a schedule: "lr" if `schedule` is null, which
/// means the run's schedule, else "lr.NAME".
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

/// The attributes `titan.stacked` and `titan.stage` of argument `index`, as far as it has them. The
/// gradient and the optimizer states of a parameter get the same attributes.
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
