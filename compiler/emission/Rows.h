//===- Rows.h - Loop nests of elementwise operations ------------*- C++ -*-===//
//
// Emits operations that are computed together row by row (`titan.fused`), or one that stands alone.
// The dimensions `rows` are walked by an outer, parallel loop. Below it, operations over the same
// inner dimensions share an inner loop unless one needs what another reduces. A value that later
// inner loops use is kept in a buffer of the row, on the stack; one that only its own loop uses is
// an expression.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_EMISSION_ROWS_H
#define TITAN_COMPILER_EMISSION_ROWS_H

#include "compiler/emission/FunctionEmitter.h"
#include "compiler/emission/Sums.h"
#include "llvm/ADT/MapVector.h"

namespace titan::emission {

class RowNest {
public:
  RowNest(FunctionEmitter &emitter, llvm::ArrayRef<mlir::Operation *> ops,
          llvm::ArrayRef<std::string> rows);
  /// `value`, computed by one of the operations, is wanted in the memory of `target`.
  void addOutput(mlir::Value value, mlir::Value target) { outputs[value].push_back(target); }
  mlir::LogicalResult emit();

private:
  /// Operations that share an inner loop over `space`.
  struct Inner {
    llvm::SmallVector<Index> space;
    llvm::SmallVector<mlir::Operation *> ops;
  };
  void schedule();
  llvm::SmallVector<Index> getInnerSpace(mlir::Operation *op);
  void prepareAccesses();
  bool isUsedLater(mlir::Value value, unsigned inner);
  void emitRowScalars();
  /// The nest as kernels: one thread an element where nothing is shared, else one block a row.
  void emitDevice();
  void openDeviceLoops(const Inner &inner, llvm::ArrayRef<Loop> loops);
  /// Loops whose innermost is shared by a block's threads, or done by the first one alone.
  void openBlockLoops(llvm::ArrayRef<Loop> loops, bool isSerial);
  /// Loops over the elements of a buffer of sums, before and after they are summed.
  void openSums(llvm::ArrayRef<Loop> loops);
  void closeSums(llvm::ArrayRef<Loop> loops);
  void prepareInner(unsigned index);
  void emitInner(unsigned index);
  void emitOp(mlir::Operation *op);
  void emitElementwise(mlir::Operation *op);
  void emitApply(ir::ApplyOp op);
  /// A name for a value inside the current loops.
  std::string defineLocal(mlir::Value value, llvm::StringRef expression);
  void declareBuffer(mlir::Value value);
  void declareBuffer(mlir::Value value, llvm::StringRef type, llvm::StringRef suffix);
  void emitReduce(ir::ReduceOp op);
  void startScalar(ir::ReduceOp op, llvm::ArrayRef<Loop> loops);
  void startBuffer(ir::ReduceOp op);
  void finishReduce(ir::ReduceOp op);
  void finishScalar(ir::ReduceOp op);
  void finishBuffer(ir::ReduceOp op);
  /// True if the sum is kept in double while it is made: it has many terms.
  bool isLongSum(ir::ReduceOp op);
  /// The scalar sums of these operations that are made in blocks.
  llvm::SmallVector<SumNames> getBlockedSums(const Inner &inner);
  /// The dimensions of a reduction's result below the row.
  llvm::SmallVector<Index> getParallelSpace(ir::ReduceOp op);
  Access getOperandAccess(mlir::Value operand);
  std::string getGather(ir::GatherOp op);
  std::string getOneHot(ir::ScatterOp op);
  std::string getPad(ir::PadOp op);
  /// The expression of an operand inside the current loops.
  std::string getOperand(mlir::Value value);
  std::string getGlobalIndex(mlir::Value value);
  /// Elements that the loop writes per iteration.
  int64_t countStores(const Inner &inner);
  void define(mlir::Value value, std::string expression);
  void store(mlir::Value value, llvm::StringRef text);
  /// The local index along dimension `key`, as an expression.
  std::string getIndex(llvm::StringRef key);
  std::string getSimd(const Inner &inner, llvm::ArrayRef<Loop> loops);
  llvm::SmallVector<const Access *> getAccesses(const Inner &inner);
  bool isRow(llvm::StringRef key) const { return llvm::is_contained(rows, key); }
  bool isInside(mlir::Value value) const;
  /// Elements are bf16: in a register a value is a float of bf16's few digits, so that it does not
  /// matter whether it was in memory between.
  static bool isNarrow(mlir::Value value);
  llvm::SmallVector<Index> getRowSpace();
  SizeExpr getWork();

  FunctionEmitter &emitter;
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallVector<std::string> rows;
  /// In the order in which they were added, which decides names.
  llvm::MapVector<mlir::Value, llvm::SmallVector<mlir::Value>> outputs;
  llvm::SmallVector<Inner> inners;
  llvm::DenseMap<mlir::Operation *, unsigned> innerOf;
  llvm::DenseMap<mlir::Value, Access> accesses; ///< external values, buffers of the row
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Access>> targets;
  /// Per random value: where its elements lie in the whole tensor.
  llvm::MapVector<mlir::Value, Access> globalIndices;
  llvm::StringMap<Access> indexAccesses;                ///< one per dimension whose index is needed
  llvm::DenseMap<mlir::Value, std::string> scalars;     ///< values of the row
  llvm::DenseMap<mlir::Value, SumNames> blockedSums;    ///< scalars while they are summed
  llvm::DenseMap<mlir::Value, std::string> expressions; ///< values of the current inner loop
  llvm::SmallVector<Loop> rowLoops, current;            ///< `current` includes the rows
  llvm::SmallVector<std::string> stores;                ///< written at the end of the inner loop
  bool inRows = false;                                  ///< inside a kernel with a block a row
  bool isElementKernel = false; ///< inside a kernel with a thread an element
  Writer text;
};

} // namespace titan::emission

#endif // TITAN_COMPILER_EMISSION_ROWS_H
