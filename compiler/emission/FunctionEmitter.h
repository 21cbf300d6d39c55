// One emitted function.
//
// Emits the body of one C++ function: a program function, or the body of a repeat. A value is a
// pointer into the arena, declared at its first use and named as in the source. The memory phase
// determined its offset. The Emit*.cpp files emit the operations, one kind each.
#pragma once

#include "compiler/emission/EmitCpp.h"
#include "compiler/emission/Gemm.h"
#include "compiler/emission/LocalSizes.h"
#include "compiler/emission/Writer.h"
#include "dialects/titan/IR/Titan.h"

namespace titan::emission {

/// The shared state of the functions of one program.
struct ProgramState {
  ProgramState(mlir::func::FuncOp function, Target target);
  /// The size in elements of the bucket that contains the allocation of `ref`: the stride between
  /// the slots of this allocation. None outside of buckets.
  std::optional<SizeExpr> getBucketSize(ir::AllocRefAttr ref);
  /// The index of an allocation in the code. A fragment has indices only for the persistent ones
  /// that it uses.
  int64_t getAllocationIndex(ir::AllocRefAttr ref) const;
  Target target;
  bool watchesNumbers; ///< a step can look for numbers that are not finite
  llvm::SmallVector<ir::AllocationAttr> persistent;
  std::optional<std::vector<int>> usedAllocations; ///< of a fragment
  LocalSizes sizes;
  NameScope functionNames;
  std::string functions; ///< text of the finished functions, callees first
};

/// An enclosing repeat, whose index is a parameter of the function.
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

  // Accessors for the code that emits operations.
  Writer &out() { return body; }
  LocalSizes &sizes() { return program.sizes; }
  bool isCuda() const { return program.target == Target::Cuda; }
  bool watchesNumbers() const { return program.watchesNumbers; }
  NameScope &names() { return scope; }
  /// The pointer variable of `value`, declared if necessary.
  std::string getPointer(mlir::Value value);
  /// A pointer to the scratch buffer `index` of `op`, as elements of `type`.
  std::string getScratch(mlir::Operation *op, unsigned index, mlir::Type type);
  /// Row-major access of the shard of the value.
  Access getAccess(mlir::Value value);
  /// The same access, but with the dimension names of `space`.
  Access getAccess(mlir::Value value, llvm::ArrayRef<IndexDim> space);
  /// The stride in elements between the slots of a value of this type.
  SizeExpr getSlotStride(ir::AllocRefAttr ref, ir::NamedTensorType type);
  /// The stride between the rows of a flat value: its slots, which are strided in a bucket.
  SizeExpr getRowStride(mlir::Value flat);
  /// The access of an iota, whose elements need no memory: each equals its index.
  Access getIndexAccess(ir::IotaOp iota);
  llvm::SmallVector<IndexDim> getSpace(mlir::Value value);
  /// The expression of a value without memory that is equal for all elements (a constant, the index
  /// of a repeat); empty for others.
  std::string getInlineScalar(mlir::Value value);
  /// The global index along dimension `dim` of the local index in an expression, and the reverse,
  /// which is outside of [0, local size) for elements of other ranks.
  std::string getGlobalIndex(ir::NamedTensorType type, int64_t dim, const std::string &local);
  std::string getLocalIndex(ir::NamedTensorType type, int64_t dim, const std::string &global);
  /// The global index at which a shard in block order starts; empty if it is 0.
  std::string getShardOffset(ir::NamedTensorType type, int64_t dim);
  /// The rank's shard of dimension `dim`, a DimShard; empty if the dimension is not sharded.
  std::string getShard(ir::NamedTensorType type, int64_t dim);
  /// The shard of the rank `back` positions before, over the axes of the dimension.
  std::string getShardBefore(ir::NamedTensorType type, int64_t dim, mlir::Value back);
  /// Writes `trace(ctx, "file:line", "operation");`, for messages and profiles.
  void emitTrace(mlir::Operation *op);
  /// Writes `watch(ctx, operands, results);` for an operation that may make an infinity or a
  /// not-a-number (WatchNumbers.h).
  void emitWatch(mlir::Operation *op);
  /// Copies `value` to `target`, a pointer expression.
  void copyTo(mlir::Value value, llvm::StringRef target);
  /// A pointer expression, as elements of `element`: `ref` in the current iterations of the
  /// enclosing repeats. `distance` is the stride in elements between the slots of the allocation.
  std::string getAllocPointer(ir::AllocRefAttr ref, mlir::Type element, const SizeExpr &distance);
  /// The process group over mesh axes: `over<mesh::tp_>()`.
  std::string getGroup(mlir::ArrayAttr axes);

private:
  mlir::LogicalResult emitOp(mlir::Operation *op);
  mlir::LogicalResult emitRepeat(ir::RepeatOp repeat);
  mlir::LogicalResult emitYield(ir::YieldOp yield);
  mlir::LogicalResult emitReturn(mlir::Operation *op);
  mlir::LogicalResult emitVariant(ir::RepeatVariant variant,
                                  llvm::ArrayRef<EnclosingRepeat> enclosing, std::string &name);
  /// At the start of a body, stores the stacked outputs that are arguments of the body.
  void emitEarlyStacks(ir::RepeatVariant variant);
  std::string getLayerPointer(dist::LayerOp layer);
  std::string getShardLevels(ir::NamedTensorType type, int64_t dim);
  /// A variable of the function, declared here if necessary.
  std::string declare(const std::string &type, const std::string &wanted,
                      const std::string &expression);
  /// Copies a value if the memory phase could not give it this allocation.
  void copyToAllocation(mlir::Value value, ir::AllocRefAttr target);
  /// The slot of a stack of the innermost repeat.
  ir::AllocRefAttr getSlot(mlir::OpResult stack);
  void emitSourceLine(mlir::Operation *op);
  /// The memory of these values as a list of `Numbers`, without values that have none.
  std::string listNumbers(mlir::ValueRange values);

  ProgramState &program;
  llvm::SmallVector<EnclosingRepeat> repeats;
  NameScope scope;
  Writer body{1};
  llvm::DenseMap<mlir::Value, std::string> pointers;
  llvm::StringMap<std::string> declared; ///< variable by expression
  std::string line;                      ///< source line of the last comment
  std::string lastTrace;                 ///< the last call of `trace`
  bool hasWatches = false;               ///< the body calls `watch`
};

/// The names of constant tables with an entry per iteration: its variant, and its slot in a stack
/// of the variants `users` (empty: all variants; the slots are then the iterations).
std::string getVariantTable(LocalSizes &sizes, ir::RepeatOp repeat);
std::string getSlotTable(LocalSizes &sizes, ir::RepeatOp repeat, llvm::ArrayRef<int64_t> users);

/// `file:line` of the location of an operation; empty without one.
std::string getSourceLine(mlir::Location location);

/// The C++ type of elements in memory; empty for types that cannot be emitted.
std::string getElementType(mlir::Type type);
/// The C++ type in which such elements are computed: float for bf16.
std::string getRegisterType(mlir::Type type);
/// The enumerator, such as `DType::F32`.
std::string getDType(mlir::Type type);
/// float or double: the type in which an operation computes, as wide as its widest operand or
/// result.
std::string getScalarType(mlir::Operation *op);

// Operations, by kind
/// One elementwise operation, gather, one-hot scatter, slice or pad that is not fused.
mlir::LogicalResult emitRows(FunctionEmitter &emitter, mlir::Operation *op);
mlir::LogicalResult emitFused(FunctionEmitter &emitter, ir::FusedOp op);
mlir::LogicalResult emitReduce(FunctionEmitter &emitter, ir::ReduceOp op);
/// If an operation changes a tensor (`into`): copies that tensor to the allocation of the result.
void emitAccumulator(FunctionEmitter &emitter, mlir::Operation *op);
mlir::LogicalResult emitContract(FunctionEmitter &emitter, ir::ContractOp op);
mlir::LogicalResult emitGroupedContract(FunctionEmitter &emitter, ir::GroupedContractOp op);
mlir::LogicalResult emitScatter(FunctionEmitter &emitter, ir::ScatterOp op);
mlir::LogicalResult emitTopK(FunctionEmitter &emitter, ir::TopKOp op);
mlir::LogicalResult emitCumulativeSum(FunctionEmitter &emitter, ir::CumulativeSumOp op);
mlir::LogicalResult emitCumulativeCount(FunctionEmitter &emitter, ir::CumulativeCountOp op);
mlir::LogicalResult emitCheckIndex(FunctionEmitter &emitter, ir::CheckIndexOp op);
mlir::LogicalResult emitInsertSlice(FunctionEmitter &emitter, ir::InsertSliceOp op);
mlir::LogicalResult emitRotary(FunctionEmitter &emitter, ir::RotaryOp op);
mlir::LogicalResult emitAttention(FunctionEmitter &emitter, ir::AttentionOp op);
mlir::LogicalResult emitAttentionGrad(FunctionEmitter &emitter, ir::AttentionGradOp op);
/// One operation of the dist dialect: a collective, an end of a message, a local conversion, a
/// wait.
mlir::LogicalResult emitCollective(FunctionEmitter &emitter, mlir::Operation *op);

/// Sums (or takes the maximum or minimum of) products of `factors` over the dimensions of `space`
/// that `result` lacks.
struct Reduction {
  llvm::SmallVector<IndexDim> space;
  llvm::SmallVector<Access> factors;
  Access result;
  dist::ReductionKind kind;
  std::string type;         ///< the C++ type of the sum
  bool accumulates = false; ///< sums are added to the content of `result`
};
void emitReduction(FunctionEmitter &emitter, Reduction reduction);
/// The Einstein summation c = (or +=) a b: a matrix product if the operands allow one, else loops.
/// `type` is the C++ type of the sum.
void emitProduct(FunctionEmitter &emitter, const GemmOperand &a, const GemmOperand &b,
                 const GemmOperand &c, const std::string &type, bool accumulates);

/// The most columns that one `tm::ColumnSums` sums (runtime/include/titan/runtime/blocked_sum.h),
/// as emitted text.
inline constexpr llvm::StringLiteral kSumColumns = "64";

/// Below this number of elements, starting threads costs more than it saves.
inline constexpr int64_t kMinParallelWork = 16384;

/// Emits `#pragma omp parallel for ...` before a nest of `depth` loops over `count` elements,
/// unless `count` is known to be less than kMinParallelWork.
void emitParallel(Writer &out, int depth, const SizeExpr &count);
/// `for (int64_t v = 0; v < size; ++v) {` for each loop; the caller closes them.
void openLoops(Writer &out, llvm::ArrayRef<Loop> loops);
void closeLoops(Writer &out, llvm::ArrayRef<Loop> loops);
/// As openLoops and closeLoops, but a block if there are no loops, so that declarations inside are
/// local.
void openScope(Writer &out, llvm::ArrayRef<Loop> loops);
void closeScope(Writer &out, llvm::ArrayRef<Loop> loops);
/// Opens a kernel (a lambda on the device) with one thread per index of `loops`; `closeKernel` ends
/// it. Without loops it runs once.
void openKernel(Writer &out, llvm::ArrayRef<Loop> loops);
/// As openKernel, but with a block of threads per index.
void openRowKernel(Writer &out, llvm::ArrayRef<Loop> loops);
void closeKernel(Writer &out);
/// Computes the loop variables from the variable `index`, the last loop fastest, except `known`
/// ones.
void splitIndex(Writer &out, llvm::ArrayRef<Loop> loops, llvm::ArrayRef<Loop> known = {});
/// Names unnamed loops i, j, k, m, n, i5, i6, ...; `first` is the index of the first name.
void nameLoops(llvm::MutableArrayRef<Loop> loops, int first = 0);

} // namespace titan::emission
