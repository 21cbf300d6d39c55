//===- FunctionEmitter.h - One emitted function -----------------*- C++ -*-===//
//
// Writes the body of one C++ function: a program, or the body of a repeat. A value is a pointer
// into the arena, declared where it is first needed and named as in the source; where it points was
// decided by the memory phase. What an operation becomes is in the Emit*.cpp files, one a kind.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_EMISSION_FUNCTIONEMITTER_H
#define TITAN_COMPILER_EMISSION_FUNCTIONEMITTER_H

#include "compiler/emission/EmitCpp.h"
#include "compiler/emission/Gemm.h"
#include "compiler/emission/LocalSizes.h"
#include "compiler/emission/Writer.h"
#include "dialects/titan/IR/Titan.h"

namespace titan::emission {

/// What the functions of one program share.
struct ProgramState {
  ProgramState(mlir::ModuleOp module, Target target);
  /// The size of the bucket in which `place` is, in elements: from one slot of a buffer to the
  /// next. None for other places.
  std::optional<SizeExpr> getBucket(ir::AllocRefAttr ref);
  Target target;
  llvm::SmallVector<ir::AllocationAttr> persistent;
  LocalSizes sizes;
  NameScope functionNames;
  std::string functions; ///< text of the finished ones, callees first
};

/// A repeat around the function's code: its index is a parameter.
struct EnclosingRepeat {
  std::string index;
  ir::RepeatOp repeat;
};

class FunctionEmitter {
public:
  /// `repeats`: the enclosing ones, the outermost first.
  FunctionEmitter(ProgramState &program, llvm::SmallVector<EnclosingRepeat> repeats);

  /// Emits the operations of `block` as a function called `name`.
  mlir::LogicalResult emitFunction(llvm::StringRef name, mlir::Block &block);

  //===--- What the emission of operations uses ---------------------------===//
  Writer &out() { return body; }
  LocalSizes &sizes() { return program.sizes; }
  bool isCuda() const { return program.target == Target::Cuda; }
  NameScope &names() { return scope; }
  /// The pointer variable of `value`, declared if need be.
  std::string getPointer(mlir::Value value);
  /// A pointer to the scratch buffer `index` of `op`, as elements of `type`.
  std::string getScratch(mlir::Operation *op, unsigned index, mlir::Type type);
  /// Row-major access of the value's local part.
  Access getAccess(mlir::Value value);
  /// The same with the names that the dimensions have in `space`.
  Access getAccess(mlir::Value value, llvm::ArrayRef<Index> space);
  /// Elements between a value of this type at `place` and the one in the next slot.
  SizeExpr getSlotStride(ir::AllocRefAttr ref, ir::NamedTensorType type);
  /// Elements between the rows of a flat value: its slots, which lie apart in a bucket.
  SizeExpr getRowStride(mlir::Value flat);
  /// The access of an iota, whose elements need no memory: they are where they are.
  Access getIndexAccess(ir::IotaOp iota);
  llvm::SmallVector<Index> getSpace(mlir::Value value);
  /// The expression of a value that has no memory and does not vary over elements (a constant, a
  /// repeat's index); empty for others.
  std::string getInlineScalar(mlir::Value value);
  /// Global index at which this rank's part of dimension `dim` starts, as a variable that is
  /// declared here; empty if it is 0.
  std::string getShardOffset(ir::NamedTensorType type, int64_t dim);
  /// Writes `trace(ctx, "file:line", "operation");`, for messages and profiles.
  void emitTrace(mlir::Operation *op);
  /// Copies `value` to `target`, a pointer expression.
  void copyTo(mlir::Value value, llvm::StringRef target);
  /// `distance`: elements from one slot of the place's buffer to the next.
  std::string getAllocPointer(ir::AllocRefAttr ref, mlir::Type element, const SizeExpr &distance);
  /// A `constexpr` array of mesh axes and the GroupRef of it.
  std::string getGroup(mlir::ArrayAttr axes);

private:
  mlir::LogicalResult emitOp(mlir::Operation *op);
  mlir::LogicalResult emitRepeat(ir::RepeatOp repeat);
  mlir::LogicalResult emitYield(ir::YieldOp yield);
  mlir::LogicalResult emitReturn(mlir::Operation *op);
  mlir::LogicalResult emitVariant(ir::RepeatVariant variant,
                                  llvm::ArrayRef<EnclosingRepeat> enclosing, std::string &name);
  void emitEarlyStacks(ir::RepeatVariant variant);
  std::string getLayerPointer(dist::LayerOp layer);
  /// Copies where the memory phase could not make the value's place the one it must have.
  void copyToAllocation(mlir::Value value, ir::AllocRefAttr target);
  /// The slot of a stack of the innermost repeat.
  ir::AllocRefAttr getSlot(mlir::OpResult stack);
  void emitSourceLine(mlir::Operation *op);

  ProgramState &program;
  llvm::SmallVector<EnclosingRepeat> repeats;
  NameScope scope;
  Writer body{1};
  llvm::DenseMap<mlir::Value, std::string> pointers;
  llvm::StringMap<std::string> rankOffsets; ///< variable by expression
  std::string line;                         ///< source line of the last comment
  std::string lastTrace;                    ///< the last call of `at`
};

/// The table that says which variant an iteration runs, and the one of the slots that `users` have
/// (none: all variants, whose slots are the iterations).
std::string getVariantTable(LocalSizes &sizes, ir::RepeatOp repeat);
std::string getSlotTable(LocalSizes &sizes, ir::RepeatOp repeat, llvm::ArrayRef<int64_t> users);

/// `file:line` of an operation's location; empty where it has none.
std::string getSourceLine(mlir::Location location);

/// The C++ type of elements in memory; empty for those that cannot be emitted.
std::string getElementType(mlir::Type type);
/// The C++ type in which such elements are computed with: float for bf16.
std::string getRegisterType(mlir::Type type);
/// `DType::F32` and so on.
std::string getDType(mlir::Type type);
/// float or double: the type in which an operation computes, as wide as its widest operand or
/// result.
std::string getScalarType(mlir::Operation *op);

//===--- Operations, by kind ---------------------------------------------===//
/// Elementwise operations, reductions along rows, take, put, slice, pad: alone or fused.
mlir::LogicalResult emitRows(FunctionEmitter &emitter, mlir::Operation *op);
mlir::LogicalResult emitFused(FunctionEmitter &emitter, ir::FusedOp op);
mlir::LogicalResult emitReduce(FunctionEmitter &emitter, ir::ReduceOp op);
/// Before the sums of an operation join a tensor: that tensor, where they will be.
void emitAccumulator(FunctionEmitter &emitter, mlir::Operation *op);
mlir::LogicalResult emitContract(FunctionEmitter &emitter, ir::ContractOp op);
mlir::LogicalResult emitScatter(FunctionEmitter &emitter, ir::ScatterOp op);
mlir::LogicalResult emitTopK(FunctionEmitter &emitter, ir::TopKOp op);
mlir::LogicalResult emitCumulativeSum(FunctionEmitter &emitter, ir::CumulativeSumOp op);
mlir::LogicalResult emitCheckIndex(FunctionEmitter &emitter, ir::CheckIndexOp op);
mlir::LogicalResult emitRotary(FunctionEmitter &emitter, ir::RotaryOp op);
mlir::LogicalResult emitAttention(FunctionEmitter &emitter, ir::AttentionOp op);
mlir::LogicalResult emitAttentionGrad(FunctionEmitter &emitter, ir::AttentionGradOp op);
/// Operations of the dist dialect.
mlir::LogicalResult emitCollective(FunctionEmitter &emitter, mlir::Operation *op);

/// Sums (or takes the maximum or minimum of) products of `factors` over the dimensions of `space`
/// that `result` lacks.
struct Reduction {
  llvm::SmallVector<Index> space;
  llvm::SmallVector<Access> factors;
  Access result;
  dist::ReductionKind kind;
  std::string type;         ///< in which it is summed, in C++
  bool accumulates = false; ///< sums are added to what lies in `result`
};
void emitReduction(FunctionEmitter &emitter, Reduction reduction);

/// Writes `#pragma omp parallel for ...` before a nest of `depth` loops over `count` elements,
/// unless it is known to be too little work to share.
void emitParallel(Writer &out, int depth, const SizeExpr &count);
/// `for (int64_t v = 0; v < size; ++v) {` for each loop; the caller closes them.
void openLoops(Writer &out, llvm::ArrayRef<Loop> loops);
void closeLoops(Writer &out, llvm::ArrayRef<Loop> loops);
/// The same, but a block of its own where there are no loops: what is declared inside stays there.
void openScope(Writer &out, llvm::ArrayRef<Loop> loops);
void closeScope(Writer &out, llvm::ArrayRef<Loop> loops);
/// Opens a kernel (a lambda on the device) that runs once for every index of `loops`, a thread
/// each; `closeKernel` ends it. Without loops it runs once.
void openKernel(Writer &out, llvm::ArrayRef<Loop> loops);
/// Likewise, with a block of threads for each index.
void openRowKernel(Writer &out, llvm::ArrayRef<Loop> loops);
void closeKernel(Writer &out);
/// The loops' variables from the variable `index`, the last loop's fastest, but for `known` ones.
void splitIndex(Writer &out, llvm::ArrayRef<Loop> loops, llvm::ArrayRef<Loop> known = {});
/// Gives loops without a name one of i, j, k, ...
void nameLoops(llvm::MutableArrayRef<Loop> loops, int first = 0);

} // namespace titan::emission

#endif // TITAN_COMPILER_EMISSION_FUNCTIONEMITTER_H
