//===- Titan.h - The `titan` dialect ----------------------------*- C++ -*-===//
//
// Training programs on global tensors with named dimensions. See TitanDialect.td for the idea and
// docs/design.md for how programs are laid out in a module at every phase.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_IR_TITAN_H
#define TITAN_DIALECTS_TITAN_IR_TITAN_H

#include "dialects/dist/IR/Dist.h"
#include "dialects/titan/IR/IterationTable.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace titan::ir {
class RepeatOp;
class RepeatVariant;
/// For each slice or stack of a repeat the variants that use it.
using VariantLists = llvm::SmallVector<llvm::SmallVector<int64_t>>;
} // namespace titan::ir

#include "dialects/titan/IR/TitanDialect.h.inc"
#include "dialects/titan/IR/TitanEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/titan/IR/TitanAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/titan/IR/TitanTypes.h.inc"

namespace titan::ir {

/// An operation that applies one scalar function to every element of the joined index space of its
/// operands. All its results have the same dimensions.
template <typename ConcreteType>
class Elementwise : public mlir::OpTrait::TraitBase<ConcreteType, Elementwise> {};

/// Names an operation's results after the NameLoc in its location, where it has one.
void setResultNamesFromLocation(mlir::Operation *op, mlir::OpAsmSetValueNameFn setName);

/// Attributes of a program function's arguments and results; docs/design.md lists what they mean.
namespace attr {
inline constexpr llvm::StringLiteral kProgram = "titan.program";
inline constexpr llvm::StringLiteral kInput = "titan.input";
inline constexpr llvm::StringLiteral kParam = "titan.param";
inline constexpr llvm::StringLiteral kInit = "titan.init";
inline constexpr llvm::StringLiteral kStacked = "titan.stacked";
inline constexpr llvm::StringLiteral kRateScale = "titan.lr_scale";
inline constexpr llvm::StringLiteral kFrozen = "titan.frozen";
/// A parameter that is not trained, whose next value @train returns (docs/rationale/buffers.md).
inline constexpr llvm::StringLiteral kBuffer = "titan.buffer";
inline constexpr llvm::StringLiteral kState = "titan.state";
inline constexpr llvm::StringLiteral kScalar = "titan.scalar";
inline constexpr llvm::StringLiteral kOutput = "titan.output";
/// On an output: every rank may give its summand, where the whole would be the sum over ranks.
inline constexpr llvm::StringLiteral kUnreduced = "titan.unreduced";
inline constexpr llvm::StringLiteral kGradient = "titan.gradient";
inline constexpr llvm::StringLiteral kUpdates = "titan.updates";
/// Arguments and results that have padded dimensions: their sizes without padding, which files
/// and initial values go by. Behind them there are zeros.
inline constexpr llvm::StringLiteral kUnpadded = "titan.unpadded";
/// Marks a function as an optimizer; on a trained parameter of @train: the optimizer's symbol.
inline constexpr llvm::StringLiteral kOptimizer = "titan.optimizer";
/// On arguments of an optimizer: "parameter" or "gradient".
inline constexpr llvm::StringLiteral kOperand = "titan.operand";
/// On @train: the greatest norm of all gradients together.
inline constexpr llvm::StringLiteral kClip = "titan.clip";
/// On @train: a step whose loss or norm is not finite updates nothing.
inline constexpr llvm::StringLiteral kSkipNonFinite = "titan.skip_nonfinite";
/// On program functions: the declared element types (ElementTypes.h).
inline constexpr llvm::StringLiteral kPrecision = "titan.precision";
inline constexpr llvm::StringLiteral kRun = "titan.run";
/// On operations in a repeat that the backward computes again.
inline constexpr llvm::StringLiteral kRecompute = "titan.recompute";
/// On operations of the model, where the run's `recompute` speaks of blocks: the blocks that they
/// stand in, the innermost first.
inline constexpr llvm::StringLiteral kBlocks = "titan.blocks";
/// On operations of the backward: "wgrad" or "dgrad".
inline constexpr llvm::StringLiteral kGradKind = "titan.grad_kind";
} // namespace attr

/// Of attention: the dimension that `value` has in place of `key`'s dimension `head`.
DimAttr getValueHeadOf(NamedTensorType key, NamedTensorType value, mlir::StringAttr head);

} // namespace titan::ir

#define GET_OP_CLASSES
#include "dialects/titan/IR/StructureOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/titan/IR/ElementwiseOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/titan/IR/TensorOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/titan/IR/NeuralOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/titan/IR/OrderOps.h.inc"

#include "dialects/titan/IR/RepeatVariant.h"

namespace titan::ir {

/// The tensor that an operation's sums join, its operand `into`; null where there is none. Of all
/// operands the result may take the place of that one alone.
mlir::Value getAccumulator(mlir::Operation *op);

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_IR_TITAN_H
