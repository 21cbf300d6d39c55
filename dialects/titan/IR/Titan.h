// The `titan` dialect.
//
// Training programs on global tensors with named dimensions. TitanDialect.td describes the dialect;
// docs/design.md describes the module at every phase.
#pragma once

#include "dialects/dist/IR/Dist.h"
#include "dialects/titan/IR/AttributeNames.h"
#include "dialects/titan/IR/IterationTable.h"
#include "dialects/titan/IR/OpTraits.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
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

/// The type with the dimensions of both: those of `lhs`, then those that only `rhs` has. If `rhs`
/// has all of them and more, their order is that of `rhs`. The element type is that of `lhs`.
NamedTensorType joinTypes(NamedTensorType lhs, NamedTensorType rhs);
/// Joins the types of all operands, beginning with the last. The element type is that of the first.
NamedTensorType joinTypes(mlir::ValueRange operands);

/// Names the results of an operation after the NameLoc in its location, if there is one.
void setResultNamesFromLocation(mlir::Operation *op, mlir::OpAsmSetValueNameFn setName);

/// The dimension of attention's `value` that replaces dimension `head` of `key`.
DimAttr findValueHead(NamedTensorType key, NamedTensorType value, mlir::StringAttr head);

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

/// The operand `into` to which an operation adds its sums or of which it replaces elements; null if
/// there is none. The result may overwrite only this operand.
mlir::Value getAccumulator(mlir::Operation *op);

} // namespace titan::ir
