// The `dist` dialect: operations.
//
// The mesh, axis rules, reshards and collectives, and the local shapes of tensors.
#pragma once

#include "base/layout/ShardLayout.h"
#include "base/pipeline/Table.h"
#include "dialects/titan/IR/Titan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace titan::dist {

// Discardable attributes, with rows in the table of titan/IR/DiscardableAttributes.cpp.

/// On axis rules: an array of dictionaries that replace the rules for some tensors.
inline constexpr llvm::StringLiteral kOverridesAttr = "dist.overrides";
/// On axis rules whose method of attention was `auto`: the times of all methods, as text.
inline constexpr llvm::StringLiteral kAttentionTimesAttr = "dist.attention_times";
/// On a collective of activations: which chunk of a value it moves ("1 of 4 of batch"), or why the
/// value is whole.
inline constexpr llvm::StringLiteral kChunkAttr = "dist.chunk", kWholeAttr = "dist.whole";
/// In tests, on an all-reduce or reduce-scatter: the interpreter omits the reduction of all values,
/// or of the value with this number. The comparison of programs must detect that.
inline constexpr llvm::StringLiteral kDroppedAttr = "dist.dropped";

/// On a function: the fragment of a program that it is (#dist.fragment).
inline constexpr llvm::StringLiteral kFragmentAttr = "dist.fragment";
/// On the declaration of a program that is cut into fragments: their symbols in an order that is
/// valid on one process.
inline constexpr llvm::StringLiteral kFragmentsAttr = "dist.fragments";

/// On a fragment: the declaration of its program. Without this reference, passes such as symbol-dce
/// would remove the declaration, which is private.
inline constexpr llvm::StringLiteral kProgramAttr = "dist.program";

/// Trait of operations that communicate within a process group.
template <typename ConcreteType>
class Collective : public mlir::OpTrait::TraitBase<ConcreteType, Collective> {};

/// Trait of the ends of messages, which are not collectives: two ranks take part, each with another
/// operation.
template <typename ConcreteType>
class Message : public mlir::OpTrait::TraitBase<ConcreteType, Message> {};

/// Sets SSA names from the locations of the results (getValueLocation).
void setResultNames(mlir::Operation *op, mlir::OpAsmSetValueNameFn setName);

} // namespace titan::dist

#define GET_OP_CLASSES
#include "dialects/dist/IR/DistOps.h.inc"

namespace titan::dist {

inline bool isCollective(mlir::Operation *op) {
  return op->hasTrait<Collective>();
}

/// Whether the collective adds the values of ranks, or takes their maximum or minimum.
inline bool reduces(mlir::Operation *op) {
  return mlir::isa<AllReduceOp, ReduceScatterOp>(op);
}

/// Whether fragments of this kind run once per microbatch; others run once per step.
bool runsPerMicrobatch(FragmentKind kind);

/// The fragments of a program in the order of `dist.fragments`; symbols without a function are
/// skipped.
llvm::SmallVector<mlir::func::FuncOp> getFragments(mlir::func::FuncOp declaration);
/// The name of the program to which a fragment belongs: "train.critic" of "train.critic.forward.0".
llvm::StringRef getProgramName(mlir::func::FuncOp fragment);

/// The pipeline of a program, with its fragments (functions by symbol) in the order of
/// `dist.fragments`, without allocations. `op` describes the pipelines of the module.
pipeline::Pipeline describePipeline(mlir::func::FuncOp declaration, PipelineOp op);

inline bool isMessage(mlir::Operation *op) {
  return op->hasTrait<Message>();
}

/// The channel of an asynchronous collective or message; none for a synchronous one.
std::optional<int64_t> getStartChannel(mlir::Operation *op);

/// The LayerOp that is the operand of a collective, possibly through casts and copies; null if
/// there is none.
LayerOp getLayer(mlir::Operation *collective);

/// The source location of one result. A coalesced collective has a fused location with one entry
/// per result.
mlir::Location getValueLocation(mlir::OpResult result);

/// Degrees of the mesh's axes by name, with a number for the `auto` axis.
using Degrees = llvm::StringMap<int64_t>;

/// The degrees of `mesh` (null: no axes), with `autoDegree` for the axis of degree `auto`.
Degrees getDegrees(MeshOp mesh, int64_t autoDegree = 1);

/// The local shape of `type`, equal on all ranks. A flat sharding has the stacked dimensions
/// followed by one chunk of ceil(elements / degree) elements. The shard phase verifies that degrees
/// divide all other dimensions.
llvm::SmallVector<int64_t> getLocalShape(ir::NamedTensorType type, const Degrees &degrees);

/// Product of the local shape.
int64_t getLocalNumElements(ir::NamedTensorType type, const Degrees &degrees);

/// Whether the chunks of a flat `type` contain no padding. A degree of 0 is unknown: false.
bool isFlatEven(ir::NamedTensorType type, const Degrees &degrees);

/// Whether a collective between these types runs row by row: one type is flat after its first
/// dimensions, the other is not flat, and the same axes shard the dimensions of both.
bool isRowwiseCollective(ir::NamedTensorType a, ir::NamedTensorType b);

/// The sharding of `type` as plain data, for the rank with these coordinates on the mesh's axes.
TensorSharding getTensorSharding(ir::NamedTensorType type, const Degrees &degrees,
                                 llvm::function_ref<int64_t(llvm::StringRef)> getCoordinate);

/// The number that must divide the size of dimension `dim`: its number of shards. If an axis in
/// head-tail order shards it, also twice the number of shards by that axis and the axes before it.
int64_t getDivisor(ShardingAttr sharding, int64_t dim, const Degrees &degrees);

/// Product of the degrees of `axes` (an array of StringAttr).
int64_t getDegreeProduct(mlir::ArrayAttr axes, const Degrees &degrees);

} // namespace titan::dist
