//===- PartitionGraph.h - A function as propagation sees it -----*- C++ -*-===//
//
// Ties the plain graph of FactorPropagation.h to IR: which value each tensor is, and which
// operation each node.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_PARTITIONGRAPH_H
#define TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_PARTITIONGRAPH_H

#include "dialects/dist/Transforms/Shard/MeshView.h"
#include "dialects/titan/IR/Titan.h"

namespace titan::dist {

class PartitionGraph {
public:
  explicit PartitionGraph(const MeshView &mesh) : mesh(mesh) { graph.axes = mesh.getAxes(); }

  /// Reads `block` and all within it; tensors whose types have a sharding are fixed. Fails with a
  /// diagnostic where an operation has no sharding rule or an argument is no tensor.
  mlir::LogicalResult addBlock(mlir::Block &block);

  void propagate() { propagateFactors(graph); }

  /// Writes what was inferred into the types of tensors that are not fixed.
  void setShardings();

  const FactorGraph &getGraph() const { return graph; }
  mlir::Value getValue(unsigned tensor) const { return values[tensor]; }
  /// The operation that a node is of; of what a repeat cuts off or stacks, the repeat.
  mlir::Operation *getOperation(size_t node) const { return operations[node]; }

private:
  unsigned getTensor(mlir::Value value);
  void addNode(ShardingRule rule, mlir::ValueRange operands, mlir::ValueRange results,
               mlir::Operation *op);
  mlir::LogicalResult addOp(mlir::Operation &op);
  mlir::LogicalResult addRepeat(ir::RepeatOp repeat);

  const MeshView &mesh;
  FactorGraph graph;
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<mlir::Operation *> operations; ///< by node
  llvm::DenseMap<mlir::Value, unsigned> indexOf;
};

/// Gives every user of an index table (an operation without operands) its own copy, so that each
/// can be split as its user needs it; equal copies become one again after partitioning.
void copyTables(mlir::func::FuncOp function);

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_PARTITIONGRAPH_H
