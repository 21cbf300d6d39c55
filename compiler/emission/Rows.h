// Loop nests of elementwise operations.
//
// Emits operations that are fused row by row (`titan.fused`), or a single one. A parallel outer
// loop iterates over the dimensions `rows`. Inside, operations over equal inner dimensions share a
// loop unless one needs the reduction of another. A value for later inner loops is stored in a row
// buffer on the stack; a value of one loop is an expression.
#pragma once

#include "compiler/emission/FunctionEmitter.h"
#include "compiler/emission/Sums.h"
#include "llvm/ADT/MapVector.h"

namespace titan::emission {

class RowNest {
public:
  /// What the nest is for: to compute the outputs, or to tell the runtime what each operation
  /// computes, without any effect (WatchNumbers.h).
  enum class Purpose : uint8_t { Compute, Watch };
  RowNest(FunctionEmitter &emitter, llvm::ArrayRef<mlir::Operation *> ops,
          llvm::ArrayRef<std::string> rows, Purpose purpose = Purpose::Compute);
  /// `value`, computed by one of the operations, is also stored to the memory of `target`.
  void addOutput(mlir::Value value, mlir::Value target) { outputs[value].push_back(target); }
  /// Writes the nest.
  mlir::LogicalResult emit();
  /// The text of the nest; the variables that it needs are written.
  std::string build();

private:
  /// Operations that share an inner loop over `space`.
  struct Inner {
    llvm::SmallVector<IndexDim> space;
    llvm::SmallVector<mlir::Operation *> ops;
  };
  void schedule();
  llvm::SmallVector<IndexDim> getInnerSpace(mlir::Operation *op);
  void prepareAccesses();
  bool isUsedLater(mlir::Value value, unsigned inner);
  void emitRowScalars();
  /// The nest as kernels: a thread per element if nothing is shared, else a block of threads per
  /// row.
  void emitDevice();
  void openDeviceLoops(const Inner &inner, llvm::ArrayRef<Loop> loops);
  /// Loops whose innermost is distributed over the threads of a block, or run by the first thread.
  void openBlockLoops(llvm::ArrayRef<Loop> loops, bool isSerial);
  /// Loops over the elements of an array of sums, before and after the summation.
  void openSums(llvm::ArrayRef<Loop> loops);
  void closeSums(llvm::ArrayRef<Loop> loops);
  void prepareInner(unsigned index);
  void emitInner(unsigned index);
  void emitOp(mlir::Operation *op);
  void emitElementwise(mlir::Operation *op);
  void emitApply(ir::ApplyOp op);
  /// A name for a value inside the current loops.
  std::string defineLocal(mlir::Value value, llvm::StringRef expression);
  // Of a nest that watches (RowWatch.cpp).
  bool isWatch() const { return purpose == Purpose::Watch; }
  /// Numbers the operations that may make a number that is not finite, in program order.
  void numberSteps();
  /// Writes that `step`, alone or in the function that `op` applies, computes `result` from
  /// `operands`: expressions.
  void see(mlir::Operation *op, mlir::Operation *step, llvm::StringRef result,
           llvm::ArrayRef<std::string> operands);
  /// The same for a term of a sum, and for its result.
  void seeTerm(ir::ReduceOp op, llvm::StringRef term);
  void seeSum(ir::ReduceOp op);
  std::string wrapWatch();
  void declareBuffer(mlir::Value value);
  void declareBuffer(mlir::Value value, llvm::StringRef type, llvm::StringRef suffix);
  void emitReduce(ir::ReduceOp op);
  /// A reduction has a scalar or a buffer as accumulator. `start...` declares and initialises it,
  /// `finish...` converts and stores the result.
  void startScalar(ir::ReduceOp op, llvm::ArrayRef<Loop> loops);
  void startBuffer(ir::ReduceOp op);
  void finishReduce(ir::ReduceOp op);
  void finishScalar(ir::ReduceOp op);
  void finishBuffer(ir::ReduceOp op);
  /// Whether the sum accumulates in double, because it has many terms.
  bool isLongSum(ir::ReduceOp op);
  /// The scalar sums of these operations that are computed in blocks.
  llvm::SmallVector<SumNames> getBlockedSums(const Inner &inner);
  /// The dimensions of the result of a reduction inside the row.
  llvm::SmallVector<IndexDim> getParallelSpace(ir::ReduceOp op);
  Access getOperandAccess(mlir::Value operand);
  std::string getGather(ir::GatherOp op);
  std::string getOneHot(ir::ScatterOp op);
  std::string getPad(ir::PadOp op);
  /// The expression of an operand inside the current loops.
  std::string getOperand(mlir::Value value);
  std::string getGlobalIndex(mlir::Value value);
  /// The number of elements that the loop stores per iteration.
  int64_t countStores(const Inner &inner);
  /// Makes `expression` the value of `value`: keeps it for its only use, stores it, or names it.
  void define(mlir::Value value, std::string expression);
  /// Adds stores of `expression` to all targets of `value` to `stores`.
  void store(mlir::Value value, llvm::StringRef expression);
  /// The local index along dimension `key`, as an expression.
  std::string getIndex(llvm::StringRef key);
  /// The OpenMP pragma of the innermost loop; empty if vectorising it is not safe.
  std::string getSimd(const Inner &inner, llvm::ArrayRef<Loop> loops);
  /// The accesses of the loop's operands, results and indices, which determine how loops merge.
  llvm::SmallVector<const Access *> getAccesses(const Inner &inner);
  bool isRow(llvm::StringRef key) const { return llvm::is_contained(rows, key); }
  bool isInside(mlir::Value value) const;
  /// The dimensions `rows`, in the order of the first tensor that has all of them.
  llvm::SmallVector<IndexDim> getRowSpace();
  /// The number of rows times the size of the largest inner space.
  SizeExpr getWork();

  FunctionEmitter &emitter;
  Purpose purpose;
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallVector<std::string> rows;
  /// By operation and, in the function that it applies, step.
  llvm::MapVector<std::pair<mlir::Operation *, mlir::Operation *>, unsigned> steps;
  /// In insertion order, which determines names.
  llvm::MapVector<mlir::Value, llvm::SmallVector<mlir::Value>> outputs;
  llvm::SmallVector<Inner> inners;
  llvm::DenseMap<mlir::Operation *, unsigned> innerOf;
  llvm::DenseMap<mlir::Value, Access> accesses; ///< external values, buffers of the row
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Access>> targets; ///< memory of the outputs
  /// For each random value: the global index of its elements.
  llvm::MapVector<mlir::Value, Access> globalIndices;
  llvm::StringMap<Access> indexAccesses;                ///< one per dimension whose index is needed
  llvm::DenseMap<mlir::Value, std::string> scalars;     ///< values of the row
  llvm::DenseMap<mlir::Value, SumNames> blockedSums;    ///< scalars while they are summed
  llvm::DenseMap<mlir::Value, std::string> expressions; ///< values of the current inner loop
  llvm::SmallVector<Loop> rowLoops, current;            ///< `current` includes the rows
  llvm::SmallVector<std::string> stores;                ///< written at the end of the inner loop
  bool isRowKernel = false;     ///< inside a kernel with one block of threads per row
  bool isElementKernel = false; ///< inside a kernel with one thread per element
  Writer text;
};

} // namespace titan::emission
