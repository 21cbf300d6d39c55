//===- Titan.h - The `titan` dialect ----------------------------*- C++ -*-===//
//
// Training programs on global tensors with named dimensions. TitanDialect.td describes the dialect;
// docs/design.md describes the module at every phase.
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
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace titan::ir {
class RepeatOp;
class RepeatVariant;
/// For each scanned input or stacked output, the variants that use it.
using VariantLists = llvm::SmallVector<llvm::SmallVector<int64_t>>;
} // namespace titan::ir

#include "dialects/titan/IR/TitanDialect.h.inc"
#include "dialects/titan/IR/TitanEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/titan/IR/TitanAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/titan/IR/TitanTypes.h.inc"

namespace titan::ir {

/// An operation that applies a scalar function to every element of the joint index space of its
/// operands. All results have the same dimensions.
template <typename ConcreteType>
class Elementwise : public mlir::OpTrait::TraitBase<ConcreteType, Elementwise> {};

/// Names the results of an operation after the NameLoc in its location, if there is one.
void setResultNamesFromLocation(mlir::Operation *op, mlir::OpAsmSetValueNameFn setName);

/// Attributes of a program function's arguments and results; docs/design.md lists what they mean.
namespace attr {
inline constexpr llvm::StringLiteral kProgram = "titan.program";
inline constexpr llvm::StringLiteral kInput = "titan.input";
inline constexpr llvm::StringLiteral kParam = "titan.param";
inline constexpr llvm::StringLiteral kInit = "titan.init";
inline constexpr llvm::StringLiteral kStacked = "titan.stacked";
inline constexpr llvm::StringLiteral kDecay = "titan.decay";
inline constexpr llvm::StringLiteral kRateScale = "titan.lr_scale";
inline constexpr llvm::StringLiteral kFrozen = "titan.frozen";
/// A parameter that is not trained; @train returns its next value (docs/rationale/buffers.md).
inline constexpr llvm::StringLiteral kBuffer = "titan.buffer";
inline constexpr llvm::StringLiteral kState = "titan.state";
inline constexpr llvm::StringLiteral kScalar = "titan.scalar";
inline constexpr llvm::StringLiteral kOutput = "titan.output";
/// On an output: each rank may return its unreduced value.
inline constexpr llvm::StringLiteral kUnreduced = "titan.unreduced";
inline constexpr llvm::StringLiteral kGradient = "titan.gradient";
inline constexpr llvm::StringLiteral kUpdates = "titan.updates";
/// On padded arguments and results: their sizes without padding, which files and initial values
/// use. The padding is zero.
inline constexpr llvm::StringLiteral kUnpadded = "titan.unpadded";
inline constexpr llvm::StringLiteral kOptimizer = "titan.optimizer";
/// On program functions: the declared element types (ElementTypes.h).
inline constexpr llvm::StringLiteral kPrecision = "titan.precision";
inline constexpr llvm::StringLiteral kRun = "titan.run";
/// On operations in a repeat that the backward pass recomputes.
inline constexpr llvm::StringLiteral kRecompute = "titan.recompute";
/// On operations of the model, if the run's `recompute` names blocks: the enclosing blocks,
/// innermost first.
inline constexpr llvm::StringLiteral kBlocks = "titan.blocks";
/// On operations of the backward pass: "wgrad" or "dgrad".
inline constexpr llvm::StringLiteral kGradKind = "titan.grad_kind";
} // namespace attr

/// The dimension of attention's `value` that replaces dimension `head` of `key`.
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

/// The constant that `value` is or expands; null if there is none.
ConstantOp getConstant(mlir::Value value);

/// The operand `into` to which an operation adds its sums; null if there is none. The result may
/// overwrite only this operand.
mlir::Value getAccumulator(mlir::Operation *op);

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_IR_TITAN_H
