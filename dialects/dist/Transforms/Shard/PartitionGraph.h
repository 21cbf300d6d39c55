// The propagation graph of a function.
//
// Maps the plain graph of FactorPropagation.h to IR: tensors to values, and nodes to operations.
#pragma once

#include "dialects/dist/Transforms/Shard/MeshView.h"
#include "dialects/titan/IR/Titan.h"

namespace titan::dist {

class PartitionGraph {
public:
  explicit PartitionGraph(const MeshView &mesh) : mesh(mesh) { graph.axes = mesh.getAxes(); }

  /// Adds `block` and all nested blocks. Tensors with a sharding are fixed. Reports operations
  /// without sharding rule and arguments that are not tensors.
  mlir::LogicalResult addBlock(mlir::Block &block);

  void propagate() { propagateFactors(graph); }

  /// Writes the inferred shardings into types.
  void setShardings();

  const FactorGraph &getGraph() const { return graph; }
  mlir::Value getValue(unsigned tensor) const { return values[tensor]; }
  /// The operation of a node. For scanned inputs and stacked outputs this is the repeat.
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

/// Copies index tables (operations without operands) for each user, so that each copy can be
/// sharded as its user needs it. Equal copies are merged after partitioning.
void copyTables(mlir::func::FuncOp function);

} // namespace titan::dist
