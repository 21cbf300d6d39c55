//===- Groups.h - Which operations of a block are fused ---------*- C++ -*-===//
//
// Grows groups of elementwise operations and reductions that can be computed row by row. An
// operation joins a group that makes or reads one of its operands if afterwards there still are
// rows enough to share between threads, a row's values still fit on the stack, and no value would
// have to leave the group and come back (the block, with each group as one node, must stay free of
// cycles).
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_FUSION_GROUPS_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_FUSION_GROUPS_H

#include "dialects/dist/IR/DistOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <set>

namespace titan::fusion {

/// What a row keeps for its later loops must stay in a core's first cache, and on devices in a
/// block's shared memory, of which 48 KiB are there without asking.
inline constexpr int64_t kMaxRowBufferBytes = 40 * 1024;

/// Bytes that an element takes there: numbers are kept as they are computed with, bf16 as float.
int64_t getRowBufferBytes(mlir::Type element);

/// The blocks in which a function's operations are fused: its own, and those of its repeats. Listed
/// before any of them changes.
llvm::SmallVector<mlir::Block *> getBodies(mlir::func::FuncOp function);

struct Group {
  llvm::SmallVector<mlir::Operation *> ops; ///< in program order
  llvm::SmallVector<mlir::StringAttr> rows;
};

class Grouping {
public:
  explicit Grouping(mlir::Block &block);
  /// Groups of two operations or more, and where each operation of the block belongs: `order` lists
  /// the block's operations so that groups are contiguous and definitions precede uses.
  llvm::SmallVector<Group> run(llvm::SmallVectorImpl<mlir::Operation *> &order);

private:
  bool isCandidate(mlir::Operation *op);
  llvm::SmallVector<mlir::StringAttr> getPossibleRows(mlir::Operation *op);
  /// The rows that all of `ops` can have; nothing if they cannot be computed together.
  std::optional<llvm::SmallVector<mlir::StringAttr>>
  chooseRows(llvm::ArrayRef<mlir::Operation *> ops);
  bool agreeOnSizes(llvm::ArrayRef<mlir::Operation *> ops, llvm::ArrayRef<mlir::StringAttr> rows);
  bool fitsRow(llvm::ArrayRef<mlir::Operation *> ops, llvm::ArrayRef<mlir::StringAttr> rows);
  std::optional<int64_t> getInnerSize(ir::NamedTensorType type,
                                      llvm::ArrayRef<mlir::StringAttr> rows);
  bool staysAcyclic(llvm::ArrayRef<unsigned> merged);
  bool tryJoin(unsigned op, unsigned group);
  llvm::SmallVector<unsigned> getRelated(mlir::Operation *op);
  llvm::SmallVector<mlir::Operation *> getOps(llvm::ArrayRef<unsigned> indices);
  llvm::SmallVector<mlir::Operation *> sort();

  dist::MeshOp mesh;
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Operation *, unsigned> indexOf;
  llvm::SmallVector<llvm::SmallVector<unsigned>> users;   ///< per operation, those that need it
  llvm::SmallVector<unsigned> groupOf;                    ///< the index of its first operation
  llvm::SmallVector<llvm::SmallVector<unsigned>> members; ///< per group, sorted
};

} // namespace titan::fusion

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_FUSION_GROUPS_H
