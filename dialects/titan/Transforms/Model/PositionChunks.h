// Analysis of the values of a function that have one row per position.
//
// The rows of a chunk of positions can be computed alone, if each value that the results need has
// one row per position. The sharding rules say which operations compute rows from rows, as they do
// for loops over chunks (Chunks.h). Operations that read earlier positions have CausalOpInterface.
#pragma once

#include "dialects/titan/Transforms/Gradient/Chunks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace titan::ir {

/// The values with one row per position, as far as the results of one function need them.
class PositionChunks {
public:
  /// The operation that needs the rows of other positions, and the reason.
  struct Obstacle {
    mlir::Operation *op = nullptr;
    std::string why;
  };

  /// Follows the inputs with the dimension `dim` through the function. Fails if an operation that
  /// its results need reads positions otherwise than causally.
  static mlir::FailureOr<PositionChunks> find(mlir::func::FuncOp function, mlir::StringAttr dim,
                                              Obstacle &obstacle);

  /// `Sliced` along the dimension of the rows, or `Invariant`.
  Dependence getDependence(mlir::Value value) const { return dependences.lookup(value); }
  /// The operands without one row per position, such as a parameter with the dimension `dim`, of
  /// operations that need the rows of the chunk; and the dimension to slice.
  const llvm::MapVector<mlir::OpOperand *, unsigned> &getSlicedOperands() const { return sliced; }
  /// The operations that read earlier positions.
  llvm::ArrayRef<mlir::Operation *> getCausalOps() const { return causal.getArrayRef(); }
  /// The operands that causal operations read at earlier positions, if they have one row per
  /// position: generation keeps their rows in caches.
  llvm::ArrayRef<mlir::OpOperand *> getCachedOperands() const { return cached.getArrayRef(); }

private:
  explicit PositionChunks(mlir::StringAttr dim) : dim(dim) {}

  bool visitBlock(mlir::Block &block);
  bool visit(mlir::Operation *op);
  bool visitRepeat(RepeatOp repeat);
  bool visitBodies(RepeatOp repeat, bool &changed);
  bool visitCausal(mlir::Operation *op, llvm::ArrayRef<unsigned> operands);
  bool visitWithoutRows(mlir::Operation *op, const dist::ShardingRule &rule);
  mlir::StringAttr getNameOfRows(mlir::Operation *op) const;
  const dist::Factor *findFactor(mlir::Operation *op, const dist::ShardingRule &rule,
                                 llvm::ArrayRef<unsigned> except) const;
  bool hasAllPositions(mlir::Value value, unsigned at) const;
  void markSliced(mlir::OpOperand &operand, unsigned at);
  /// Notes the obstacle, if it is the first. Returns false.
  bool refuse(mlir::Operation *op, llvm::StringRef why);

  mlir::StringAttr dim;
  int64_t positions = 0; ///< the size of the dimension
  Obstacle obstacle;
  llvm::DenseMap<mlir::Value, Dependence> dependences;
  llvm::MapVector<mlir::OpOperand *, unsigned> sliced;
  llvm::SetVector<mlir::Operation *> causal;
  llvm::SetVector<mlir::OpOperand *> cached;
};

} // namespace titan::ir
