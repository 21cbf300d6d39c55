//===- DistOps.h - The `dist` dialect: operations ---------------*- C++ -*-===//
//
// The mesh, the user's mapping, reshards and collectives, and what a rank holds of a tensor.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_DIST_IR_DISTOPS_H
#define TITAN_DIALECTS_DIST_IR_DISTOPS_H

#include "dialects/titan/IR/Titan.h"
#include "mlir/IR/SymbolTable.h"

namespace titan::dist {

/// An operation in which the ranks of a group exchange something.
template <typename ConcreteType>
class Collective : public mlir::OpTrait::TraitBase<ConcreteType, Collective> {};

/// Names the results of an operation after the values they are of (getValueLocation).
void setResultNames(mlir::Operation *op, mlir::OpAsmSetValueNameFn setName);

} // namespace titan::dist

#define GET_OP_CLASSES
#include "dialects/dist/IR/DistOps.h.inc"

namespace titan::dist {

inline bool isCollective(mlir::Operation *op) {
  return op->hasTrait<Collective>();
}

/// The channel on which a collective is started; none for one that gives its results at once.
std::optional<int64_t> getStartChannel(mlir::Operation *op);

/// The layer that a collective exchanges, perhaps cast before; null where it exchanges something
/// else.
LayerOp getLayer(mlir::Operation *collective);

/// Where the source has the value that a result is of: a collective of several values has the
/// locations of all of them.
mlir::Location getValueLocation(mlir::OpResult result);

/// Degrees of the mesh's axes by name; fills in what `auto` becomes at launch.
using Degrees = llvm::StringMap<int64_t>;

/// The degrees of `mesh` (null: no axes), with `autoDegree` for an axis whose degree is `auto`.
Degrees getDegrees(MeshOp mesh, int64_t autoDegree = 1);

/// What a rank holds of `type`, in elements per dimension. A flat sharding gives the stacked
/// dimensions followed by one chunk: ceil(elements / degree). Every rank gets the same shape;
/// dimensions are divisible by what splits them (the shard phase's verifier sees to it).
llvm::SmallVector<int64_t> getLocalShape(ir::NamedTensorType type, const Degrees &degrees);

/// Product of the local shape.
int64_t getLocalNumElements(ir::NamedTensorType type, const Degrees &degrees);

/// Whether an exchange between these types goes row by row: one of them is flat below its first
/// dimensions, the other is not flat, and axes split the dimensions of both alike.
bool isRowwiseCollective(ir::NamedTensorType a, ir::NamedTensorType b);

/// Product of the degrees of `axes` (an array of StringAttr).
int64_t getDegreeProduct(mlir::ArrayAttr axes, const Degrees &degrees);

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_IR_DISTOPS_H
