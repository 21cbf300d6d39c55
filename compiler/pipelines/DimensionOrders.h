// The orders in which an axis may take the dimensions that it lists.
//
// Two listed dimensions compete if they meet in an operation, because the axis can shard only one
// of them there. The order of dimensions that never meet means nothing.
#pragma once

#include "dialects/dist/Transforms/Shard/MeshView.h"

namespace titan::pipelines {

/// Positions in the list `shards` of an axis, ascending.
using CompetingDims = llvm::SmallVector<size_t, 4>;

/// The groups of competing dimensions of an axis in the train programs of a module. A dimension
/// that the degree does not divide, and that is not padded, does not compete.
llvm::SmallVector<CompetingDims> findCompetingDims(mlir::ModuleOp module,
                                                   const dist::MeshView &mesh, size_t axis);

/// The lists to compare: `shards` with the dimensions of one group in other orders, the given one
/// first. Of up to four dimensions all orders, of more each dimension first.
llvm::SmallVector<llvm::SmallVector<mlir::Attribute>>
listOrders(llvm::ArrayRef<mlir::Attribute> shards, const CompetingDims &group);

} // namespace titan::pipelines
