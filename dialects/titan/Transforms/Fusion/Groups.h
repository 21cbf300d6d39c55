// Which operations of a block are fused.
//
// Grows groups of elementwise operations and reductions that can be evaluated row by row. An
// operation joins the group of a producer or consumer under three conditions: enough rows remain to
// divide among threads; the row buffers still fit on the stack; and the block, with each group as
// one node, remains acyclic.
#pragma once

#include "dialects/dist/IR/DistOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <set>

namespace titan::fusion {

/// The row buffers must stay in the first-level cache of a core. On devices they must fit into the
/// shared memory of a block, of which 48 KiB are available by default.
inline constexpr int64_t kMaxRowBufferBytes = 40 * 1024;

/// Bytes of an element in a row buffer: bf16 is widened to float.
int64_t getRowBufferBytes(mlir::Type element);

/// The blocks whose operations are fused: the body of the function and the bodies of its repeats.
llvm::SmallVector<mlir::Block *> getBodies(mlir::func::FuncOp function);

/// Whether no loop evaluates `op`: products, messages, repeats.
bool isBarrier(mlir::Operation *op);

/// Operations that become one fused region.
struct Group {
  llvm::SmallVector<mlir::Operation *> ops; ///< in program order
  llvm::SmallVector<mlir::StringAttr> rows; ///< the names of the leading dimensions that all share
};

/// Chooses the groups of one block. Operations are numbered in program order; a group has the
/// number of its first operation.
class Grouping {
public:
  explicit Grouping(mlir::Block &block);
  /// Returns the groups of two or more operations. `order` receives the operations of the block
  /// such that groups are contiguous and definitions precede uses. Constants and iotas are not
  /// among them, so that the order does not depend on where these are.
  llvm::SmallVector<Group> run(llvm::SmallVectorImpl<mlir::Operation *> &order);

private:
  /// Whether a group may contain `op`.
  bool isCandidate(mlir::Operation *op);
  /// The leading dimensions of `op` that may be rows.
  llvm::SmallVector<mlir::StringAttr> getPossibleRows(mlir::Operation *op);
  /// The rows that all of `ops` share; nothing if the operations cannot be fused.
  std::optional<llvm::SmallVector<mlir::StringAttr>>
  chooseRows(llvm::ArrayRef<mlir::Operation *> ops);
  /// True if dimensions of equal name have one size and one sharding in all of `ops`.
  bool agreeOnSizes(llvm::ArrayRef<mlir::Operation *> ops, llvm::ArrayRef<mlir::StringAttr> rows);
  /// True if the row buffers of `ops` fit.
  bool fitsRow(llvm::ArrayRef<mlir::Operation *> ops, llvm::ArrayRef<mlir::StringAttr> rows);
  /// The elements of a row of `type`; nothing if the compiler does not know them.
  std::optional<int64_t> getInnerSize(ir::NamedTensorType type,
                                      llvm::ArrayRef<mlir::StringAttr> rows);
  /// True if the block is acyclic with the groups `merged` as one node.
  bool staysAcyclic(llvm::ArrayRef<unsigned> merged);
  /// Joins the group of `op` and `group`, if the result is a group. True if it did.
  bool tryJoin(unsigned op, unsigned group);
  /// Earlier operations whose groups `op` may join.
  llvm::SmallVector<unsigned> getRelated(mlir::Operation *op);
  /// Joins the groups of related operations, as long as any can be joined.
  void joinRelated(bool acrossBarriers);
  llvm::SmallVector<mlir::Operation *> getOps(llvm::ArrayRef<unsigned> indices);
  /// The order keeps the program order, except that a collective of computed values or inputs moves
  /// to the first position at which these exist, so that it overlaps with more computation. It does
  /// not move before a repeat, during which its result would stay in memory. A gather of parameters
  /// does not move, because its result is large. Nor does a collective of another collective's
  /// result, because computation between both hides the first. Of the groups whose operands exist,
  /// the one with the lowest priority is next. The priority of a group that does not move is its
  /// number plus 1.
  unsigned getPriority(unsigned group);
  /// The operations in the new order.
  llvm::SmallVector<mlir::Operation *> sort();

  dist::MeshOp mesh;
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Operation *, unsigned> indexOf;
  llvm::SmallVector<llvm::SmallVector<unsigned>>
      users;                             ///< per operation, the operations that must follow it
  llvm::SmallVector<unsigned> stretchOf; ///< per operation, the barriers that precede it
  llvm::SmallVector<unsigned> groupOf;   ///< per operation, the number of its group
  llvm::SmallVector<llvm::SmallVector<unsigned>> members; ///< per group, its operations, sorted
};

} // namespace titan::fusion
